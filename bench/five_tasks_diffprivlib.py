"""The same tasks in DiffPrivLib 0.6. Runs in an environment of its own, with `diffprivlib` and scikit-learn 1.4."""

# ruff: noqa: ANN001, ANN201, ARG001  # as one types them; the functions are of one form

import math

import pandas as pd
from diffprivlib import BudgetAccountant, tools

EDUCATION = ["Primary", "Secondary", "Vocational", "Bachelor", "Master"]


def histogram(path, folder):
    codes = pd.read_csv(path)["education"].map(EDUCATION.index)
    counts, _ = tools.histogram(codes, epsilon=1, bins=len(EDUCATION), range=(0, len(EDUCATION)))
    return dict(zip(EDUCATION, counts, strict=True))


def mean(path, folder):
    return tools.mean(pd.read_csv(path)["age"], epsilon=1, bounds=(0, 100))


def budget(path, folder):
    table = pd.read_csv(path)
    codes = table["education"].map(EDUCATION.index)
    account = BudgetAccountant(epsilon=1)
    size = len(EDUCATION)
    tools.histogram(codes, epsilon=0.5, bins=size, range=(0, size), accountant=account)
    tools.mean(table["age"], epsilon=0.5, bounds=(0, 100), accountant=account)
    tools.mean(table["age"], epsilon=0.5, bounds=(0, 100), accountant=account)  # refused


def choose(path, folder):
    return math.sqrt(2) / 10  # by hand, for Laplace noise of scale 1 / epsilon: the library predicts no error


def explain(path, folder):
    counts = histogram(path, folder)
    half = math.log(1 / 0.05)  # by hand: the library states no error and no interval
    return {name: (count - half, count + half) for name, count in counts.items()}
