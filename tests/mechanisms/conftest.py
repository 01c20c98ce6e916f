"""Statistics of the mechanism tests: each accepts the truth but for chance FALSE_ALARM, and has a control."""

import importlib.util
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import NormalDist
from types import ModuleType

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism

FALSE_ALARM = 1e-6
LIMIT = NormalDist().inv_cdf(1 - FALSE_ALARM / 4)
"""Two two-sided tests share the false alarm."""
FOURTH = 7.0
"""The fourth moment over the squared variance: 3 for Gaussian noise, little above 6 for Laplace of scale >= 3."""
REPEATS = 1000
"""So many Laplace errors show a variance 1.7 times or half the stated one with power .995."""


def _centred_with(errors: np.ndarray, variance: float) -> bool:
    """Whether independent errors have mean zero and this variance."""
    size = errors.size
    mean_fits = abs(float(errors.mean())) < LIMIT * math.sqrt(variance / size)
    spread = float((errors.astype(float) ** 2).mean())
    return mean_fits and abs(spread - variance) < LIMIT * variance * math.sqrt((FOURTH - 1) / size)


def _query_errors(mechanism: MatrixMechanism, cells: np.ndarray, weights: Sequence[np.ndarray]) -> np.ndarray:
    """Errors of REPEATS answers to one query, each from a measurement of its own."""
    matrix, decoder = mechanism.strategy.map, mechanism.strategy.decoder
    counts = matrix.apply(cells) if hasattr(matrix, "parts") else cells
    truth = float(np.einsum("i,i->", _outer(weights), cells))
    generator = rng.seeded(2)
    measured = (mechanism.measure(counts, rng=generator) for _ in range(REPEATS))
    return np.array([decoder.answer(one, weights) for one in measured]) - truth


def _outer(weights: Sequence[np.ndarray]) -> np.ndarray:
    query = np.ones(1)
    for axis in weights:
        query = np.kron(query, axis)
    return query


@pytest.fixture(scope="session")
def centred_with() -> Callable[[np.ndarray, float], bool]:
    return _centred_with


@pytest.fixture(scope="session")
def query_errors() -> Callable[..., np.ndarray]:
    return _query_errors


@pytest.fixture(scope="session")
def checks() -> ModuleType:
    """The checks of every oracle (`tests/contract/oracle_checks.py`), for reports that are no frequency oracle's."""
    path = Path(__file__).parents[1] / "contract" / "oracle_checks.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
