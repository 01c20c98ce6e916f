"""The document on positions: real and simulated collections err alike, and every line says what stands in."""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dpress.core.basics import rng

Z = 5.0  # standard deviations; a false alarm in 1.7 million


@pytest.fixture(scope="module")
def methods(papers: Callable[[str], ModuleType]) -> ModuleType:
    return papers("spatial_methods")


def test_every_line_on_landmark_says_what_stands_in(papers: Callable[[str], ModuleType]) -> None:
    for one in papers("spatial_claims").claims():
        if "Landmark" in one.place or "both data sets" in one.place:
            assert "not public" in one.note
        if one.quantity.table == "errors":
            assert one.data == ("gowalla",)


CITY_USERS = 1000


@pytest.fixture
def city(methods: ModuleType, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """A made-up city of 1,000 people instead of the data."""
    words = rng.seeded(4).words(2 * CITY_USERS).reshape(2, -1).astype(np.float64) / 2.0**64
    cells = (methods.FINE * words**2).astype(np.int32)
    image = np.zeros((methods.FINE, methods.FINE))
    np.add.at(image, tuple(cells), 1)
    monkeypatch.setattr(methods, "places", lambda _: cells)
    monkeypatch.setattr(methods, "counted", lambda _: image)
    return image


def squares(methods: ModuleType, city: np.ndarray, own: Any, kind: str, source: rng.Generator) -> np.ndarray:
    """The squared errors of a half of the box, of 20 collections."""
    side = own.grid.side
    half = methods.Rectangles(*(np.array([end]) for end in (0.0, side / 2, 0.0, float(side))))
    truth = city[: methods.FINE // 2].sum()
    maps = [methods.collected(own, "city", kind, source=source) for _ in range(20)]
    return np.array([float(one.values(half)[0]) - truth for one in maps]) ** 2


def apart(first: np.ndarray, second: np.ndarray) -> float:
    one, two = np.log(first + 1), np.log(second + 1)
    return float(abs(one.mean() - two.mean()) / np.sqrt((one.var(ddof=1) + two.var(ddof=1)) / 20))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["krr", "rappor", "qt_rappor", "gtr", "psda", "gtr_top_down"])
def test_real_and_simulated_collections_err_alike(methods: ModuleType, city: np.ndarray, method: str) -> None:
    own, source = methods.made(method, 4, "1"), rng.seeded(5)
    real, simulated = (squares(methods, city, own, kind, source) for kind in ("real", "simulated"))
    assert apart(real, simulated) < Z
    assert apart(100 * real, simulated) > Z


@pytest.mark.parametrize("method", ["psda", "n_psda"])
def test_the_noise_of_a_projection_too_large_is_that_of_a_smaller_one(methods: ModuleType, method: str) -> None:
    """At 16 a side both can be had: the variance of rectangles by formula and by the inverse of the projection."""
    own, levels = methods.made(method, 16, "1"), methods.PROJECTED[method]
    formula = methods.ProjectedNoise(grid=own.grid, epsilon=1.0, levels=levels, totals=len(levels) > 1)
    counts = np.full(256, 40.0)
    given = methods.Rectangles(*(np.array(ends) for ends in ([0.0, 3, 5], [7.0, 4, 16], [1.0, 2, 0], [9.0, 3, 11])))
    source, found = rng.seeded(7), []
    for _ in range(400):
        image = formula.decoded(formula.simulated(counts, 256 * 40, rng=source), 256 * 40).counts
        found.append(methods.sums(image, given))
    exact = own.decoded(own.simulated(counts, 256 * 40, rng=source), 256 * 40).variances(given)
    spread = np.var(found, axis=0)
    assert (np.abs(spread / exact - 1) < Z * math.sqrt(2 / 400)).all()
    assert (np.abs(2 * spread / exact - 1) > Z * math.sqrt(2 / 400)).all()


def test_the_error_of_the_truth_is_nothing(methods: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    image = np.zeros((methods.FINE, methods.FINE))
    image[:16, :16] = 10.0
    monkeypatch.setattr(methods, "counted", lambda _: image)
    methods.truth.cache_clear()

    class Exact:
        grid = methods.Grid(methods.FINE)

        def __init__(self, factor: float) -> None:
            self.factor = factor

        def values(self, given: Any) -> Any:
            return self.factor * methods.sums(image, given)

    assert methods.relative_error(Exact(1.0), "city", 0.05, 0.45) < 1e-12
    truths = methods.sums(image, methods.asked(0.05, 0.45)) > 0
    assert methods.relative_error(Exact(1.5), "city", 0.05, 0.45) == pytest.approx(0.5 * truths.mean(), rel=0.05)
    methods.truth.cache_clear()
