"""The script that reproduces the document on ranges: its squares are those of releases, and a fault does not pass."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.maps.ranges import Range

Tables = dict[str, list[dict[str, Any]]]
MEASURED = ("ranges_measured", "average_measured", "average_cells", "ranges_measured_ours", "average_measured_ours")


@pytest.fixture(scope="module")
def methods(papers: Callable[[str], ModuleType]) -> ModuleType:
    return papers("ranges_methods")


@pytest.fixture(scope="module")
def quick(papers: Callable[[str], ModuleType]) -> Tables:
    """The tables of a quick run, of the experiments alone, in this process."""
    script = papers("ranges")
    tables: Tables = {}
    for task in script.tasks(script.QUICK):
        if task.experiment.startswith("experiment") and task.cells in {1, 16}:
            for name, rows in script.run(task).items():
                tables.setdefault(name, []).extend(rows)
    return tables


@pytest.mark.parametrize("cells", [1, 2, 4, 16])
def test_all_ranges_at_once_are_the_ranges_one_by_one(cells: int, methods: ModuleType) -> None:
    """The matrix of unit answers gives what the decoder answers from a measurement, range by range."""
    ranges = [Range(left, right) for left in range(1, cells + 1) for right in range(left, cells + 1)]
    for one in methods.subjects(cells).values():
        noise = next(methods.noises(one.mechanism, 3, rng.seeded(cells)))
        decoder = one.mechanism.strategy.decoder
        singles = []
        for row in noise:
            noisy = one.mechanism.measured(row.astype(np.int64))
            singles.append([decoder.answer(noisy, [asked.weights(cells)]) ** 2 for asked in ranges])
        squares = methods.range_squares(one, ranges, 3, rng.seeded(cells))
        assert np.allclose(squares, singles, rtol=1e-6, atol=1e-6), one.name
        means = methods.all_ranges_squares(one, 3, rng.seeded(cells))
        assert np.allclose(means, np.mean(singles, axis=1), rtol=1e-6, atol=1e-6), one.name


def test_the_noise_is_that_of_the_mechanism(methods: ModuleType) -> None:
    """One measurement of an empty table has the noise that is drawn in blocks."""
    one = methods.subject("hierarchy", "epsilon = 1", 64)
    measured = one.mechanism.measure(np.zeros(64, dtype=np.int64), rng=rng.seeded(7)).answers
    assert np.array_equal(next(methods.noises(one.mechanism, 1, rng.seeded(7)))[0], measured)


def test_variances_alone_are_right_for_independent_cells_only(methods: ModuleType) -> None:
    ranges = [Range(1, 5), Range(3, 30)]
    ratios = {}
    for name in ("identity", "privelet"):
        one = methods.subject(name, "epsilon = 1", 64)
        ratios[name] = methods.diagonal(one, ranges) / methods.predicted(one, ranges)
    assert np.allclose(ratios["identity"], 1)
    assert np.all(ratios["privelet"] > 1.5)


def test_random_ranges_are_all_equally_likely(methods: ModuleType) -> None:
    """Every range of 4 cells, in 20,000 draws: each of the ten within six standard errors of 2,000."""
    drawn = methods.random_ranges(4, 20_000, rng.seeded(3))
    counts = [drawn.count(Range(left, right)) for left in range(1, 5) for right in range(left, 5)]
    assert sum(counts) == 20_000
    assert max(abs(count - 2000) for count in counts) < 6 * math.sqrt(20_000 * 0.1 * 0.9)


def figures(papers: Callable[[str], ModuleType], tables: Tables, keys: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield the key of a claim with its figure, for every place of its axis."""
    judging = papers("claims")
    for one in papers("ranges_claims").claims():
        if one.key in keys:
            yield from ((one.key, figure) for figure in judging.judge(one, tables).figures)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1.0, 1.03, 0.97, 1.1, 0.9])
def test_a_prediction_that_is_three_percent_wrong_fails_everywhere(
    scale: float, quick: Tables, papers: Callable[[str], ModuleType]
) -> None:
    """Every strategy, at every number of cells, in either direction; with the right prediction all of them hold."""
    wrong = {name: [row | {"predicted": row["predicted"] * scale} for row in rows] for name, rows in quick.items()}
    found = [(key, one.at, one.verdict) for key, one in figures(papers, wrong, MEASURED)]
    assert len(found) == 4 + 4 + 2 + 3 + 3
    wanted = papers("claims").HELD if scale == 1 else papers("claims").NOT
    assert [one for one in found if one[2] != wanted] == []


@pytest.mark.slow
def test_a_prediction_without_covariances_fails(quick: Tables, papers: Callable[[str], ModuleType]) -> None:
    """Adding up the variances alone; it is right for identity."""
    wrong = {"experiment_1": [row | {"predicted": row["diagonal"]} for row in quick["experiment_1"]]}
    found = {one.at: one.verdict for _, one in figures(papers, wrong, ("ranges_measured",))}
    judging = papers("claims")
    assert found == dict.fromkeys(("binary_tree", "boost", "privelet"), judging.NOT) | {"identity": judging.HELD}


@pytest.mark.slow
def test_noise_of_another_shape_is_seen_by_the_slope(quick: Tables, papers: Callable[[str], ModuleType]) -> None:
    """A prediction that is right on the mean and the same for every range."""
    mean = {
        row["strategy"]: np.mean(
            [own["predicted"] for own in quick["experiment_1"] if own["strategy"] == row["strategy"]]
        )
        for row in quick["table_1"]
    }
    wrong = {
        "experiment_1": [
            row | {"predicted": math.sqrt(row["predicted"] * mean[row["strategy"]])} for row in quick["experiment_1"]
        ]
    }
    verdicts = {one.verdict for _, one in figures(papers, wrong, ("ranges_slope", "ranges_slope_ours"))}
    assert verdicts == {papers("claims").NOT}


@pytest.mark.slow
def test_figures_are_drawn(quick: Tables, papers: Callable[[str], ModuleType], tmp_path: Path) -> None:
    script = papers("ranges")
    own = [task for task in script.tasks(script.QUICK) if task.experiment == "sizes" and task.cells < 64]
    sizes = [row for task in own if task.strategy != "p_identity" for row in script.run(task)["sizes"]]
    script.draw(tmp_path, quick | {"sizes": sizes, "lengths": script.lengths(16, "epsilon = 1")})
    for name in ("experiment_1", "experiment_2", "strategies", "diagonal", "lengths"):
        assert (tmp_path / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
        assert "<svg" in (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
