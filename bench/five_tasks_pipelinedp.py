"""The same tasks in PipelineDP 0.3. Runs in an environment of its own, with `pipeline-dp` and `pyspark`."""

# ruff: noqa: ANN001, ANN201, ARG001, ARG005  # as one types them; the functions are of one form

import csv
import math

import pipeline_dp as dp

LEVELS = ["Primary", "Secondary", "Vocational", "Bachelor", "Master"]
EDUCATION = dp.DataExtractors(lambda row: row[0], lambda row: row[1]["education"], lambda row: 0)
AGE = dp.DataExtractors(lambda row: row[0], lambda row: "all", lambda row: float(row[1]["age"]))


def histogram(path, folder):
    account = dp.NaiveBudgetAccountant(total_epsilon=1, total_delta=0)
    counts = counted(path, account)
    account.compute_budgets()
    return dict(counts)


def mean(path, folder):
    account = dp.NaiveBudgetAccountant(total_epsilon=1, total_delta=0)
    ages = averaged(path, account)
    account.compute_budgets()
    return dict(ages)


def budget(path, folder):
    account = dp.NaiveBudgetAccountant(total_epsilon=1, total_delta=0)
    counts, ages = counted(path, account), averaged(path, account)
    account.compute_budgets()
    dict(counts), dict(ages)
    averaged(path, account)  # refused


def choose(path, folder):
    return math.sqrt(2) / 10  # by hand, for Laplace noise of scale 1 / epsilon: an error is stated after the noise


def explain(path, folder):
    counts = histogram(path, folder)
    half = math.log(1 / 0.05) / math.sqrt(2)  # by hand, for Laplace noise: a standard error is stated, no interval
    return {
        name: (found.count - half * found.count_noise_stddev, found.count + half * found.count_noise_stddev)
        for name, found in counts.items()
    }


def counted(path, account):
    once = dp.AggregateParams(
        [dp.Metrics.COUNT],
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
        output_noise_stddev=True,
    )
    rows = list(enumerate(csv.DictReader(path.open())))
    return dp.DPEngine(account, dp.LocalBackend()).aggregate(rows, once, EDUCATION, public_partitions=LEVELS)


def averaged(path, account):
    once = dp.AggregateParams(
        [dp.Metrics.MEAN],
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
        min_value=0,
        max_value=100,
    )
    rows = list(enumerate(csv.DictReader(path.open())))
    return dp.DPEngine(account, dp.LocalBackend()).aggregate(rows, once, AGE, public_partitions=["all"])
