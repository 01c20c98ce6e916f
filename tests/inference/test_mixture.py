"""The greatest likelihood against an independent convex solver; the gap; priors; early stopping."""

from itertools import pairwise, takewhile

import numpy as np
import pytest
import scipy.optimize

from dpress.core.basics import rng
from dpress.inference.joint.information import information
from dpress.inference.joint.likelihood import Halves, Kernel, Split, in_memory
from dpress.inference.joint.mixture import Prior, iterates, maximise, step, users
from dpress.mechanisms.joint.early_stop import independent, regularised

pytestmark = pytest.mark.slow

SIZES = (3, 2, 2)
R = 3.0


def uniforms(*shape: int, seed: int) -> np.ndarray:
    return (rng.seeded(seed).words(int(np.prod(shape))) / 2.0**64).reshape(shape)


def simulated(sizes: tuple[int, ...], truth: np.ndarray, users: int, seed: int, dtype: type = np.float64) -> Halves:
    """Reports by k-ary response of every attribute, the value's own answer R times as likely as any other."""
    cells = np.searchsorted(np.cumsum(truth), uniforms(users, seed=seed))
    parts = []
    for axis, (codes, size) in enumerate(zip(np.unravel_index(cells, sizes), sizes, strict=True)):
        draw = uniforms(2, users, seed=100 * seed + axis + 1)
        lies = draw[0] < (size - 1) / (R + size - 1)
        answers = np.where(lies, (codes + 1 + (draw[1] * (size - 1)).astype(int)) % size, codes)
        parts.append(np.where(np.arange(size) == answers[:, None], R, 1.0).astype(dtype))
    return Split(sizes).halves(parts)


def truth(sizes: tuple[int, ...]) -> np.ndarray:
    table = np.arange(1.0, np.prod(sizes) + 1) ** 2
    table[1::3] = 0
    return table / table.sum()


def likelihoods(halves: Halves, split: Split) -> np.ndarray:
    return np.array([split.table(np.outer(a, b)) for a, b in zip(halves.left, halves.right, strict=True)])


def solved(matrix: np.ndarray, prior: Prior | None = None) -> float:
    """The greatest objective by sequential least-squares programming: an independent program on the dense matrix."""
    weight, pull = (0.0, 0.0) if prior is None else (prior.weight, prior.table)
    whole = len(matrix) + weight

    def value(table: np.ndarray) -> float:
        table = np.maximum(table, 1e-12)
        return -float((np.log(matrix @ table).sum() + (weight * pull * np.log(table)).sum()) / whole)

    def slope(table: np.ndarray) -> np.ndarray:
        table = np.maximum(table, 1e-12)
        return -(matrix.T @ (1 / (matrix @ table)) + weight * pull / table) / whole

    cells = matrix.shape[1]
    found = scipy.optimize.minimize(
        value, np.full(cells, 1 / cells), jac=slope, method="SLSQP", bounds=[(1e-12, 1)] * cells,
        constraints={"type": "eq", "fun": lambda table: table.sum() - 1, "jac": np.ones_like},
        options={"ftol": 1e-13, "maxiter": 1000},
    )  # fmt: skip
    return -found.fun


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("weight", [0.0, 2.0, 50.0])
def test_the_maximum_is_that_of_a_convex_solver(seed: int, weight: float) -> None:
    split = Split(SIZES)
    halves = simulated(SIZES, truth(SIZES), 400, seed)
    uniform = np.full(split.cells, 1 / split.cells)
    prior = Prior(table=uniform, weight=weight, reason="a test") if weight else None
    fold = in_memory(halves, block=64)
    fit = maximise(fold, split, uniform, prior=prior, gap=1e-7, passes=20_000)
    at = step(fold, split, fit.table, 400, prior)
    assert fit.gap <= 1e-7
    assert fit.reason.startswith("converged")
    assert fit.table.sum() == pytest.approx(1)
    assert at.objective == pytest.approx(solved(likelihoods(halves, split), prior), abs=1e-6)


def test_the_gap_bounds_what_is_still_to_be_gained_at_every_step() -> None:
    split, halves = Split(SIZES), simulated(SIZES, truth(SIZES), 400, 4)
    uniform = np.full(split.cells, 1 / split.cells)
    best = solved(likelihoods(halves, split))
    path = list(takewhile(lambda fit: fit.passes < 60, iterates(in_memory(halves), split, uniform)))
    assert all(best - fit.log_likelihood <= fit.gap + 1e-9 for fit in path)
    assert all(second.log_likelihood >= first.log_likelihood - 1e-12 for first, second in pairwise(path))
    assert path[0].gap > 1e-3  # and it says so while there is something to gain


def test_one_step_is_the_documents_formula() -> None:
    split, halves = Split(SIZES), simulated(SIZES, truth(SIZES), 50, 5)
    table = uniforms(split.cells, seed=6)
    table /= table.sum()
    joint = likelihoods(halves, split) * table
    posterior = joint / joint.sum(axis=1, keepdims=True)
    at = step(in_memory(halves, block=7), split, table, 50)
    assert np.allclose(at.table, posterior.mean(axis=0))
    assert at.log_likelihood == pytest.approx(np.log(joint.sum(axis=1)).mean())


def test_a_fold_over_batches_that_are_made_anew_gives_the_same() -> None:
    """A million reports never lie in memory together; the estimator sees only the fold."""
    split, halves = Split(SIZES), simulated(SIZES, truth(SIZES), 300, 7)
    passes = 0

    def streamed(kernel: Kernel) -> np.ndarray:
        nonlocal passes
        passes += 1
        return np.asarray(sum(kernel(halves.rows(slice(start, start + 41))) for start in range(0, 300, 41)))

    uniform = np.full(split.cells, 1 / split.cells)
    ours, whole = (maximise(fold, split, uniform, gap=1e-6) for fold in (streamed, in_memory(halves)))
    assert np.allclose(ours.table, whole.table, atol=1e-6)
    assert passes == ours.passes + 1  # one to count the reports
    assert users(streamed) == 300


@pytest.mark.slow
def test_single_precision_is_enough() -> None:
    split, tables = Split(SIZES), []
    for dtype in (np.float32, np.float64):
        fold, table = in_memory(simulated(SIZES, truth(SIZES), 3000, 8, dtype)), np.full(12, 1 / 12)
        for _ in range(300):
            table = step(fold, split, table, 3000).table
        tables.append(table)
    assert np.abs(tables[0] - tables[1]).sum() < 1e-5


def test_a_cell_that_starts_at_zero_is_no_candidate() -> None:
    split, halves = Split(SIZES), simulated(SIZES, truth(SIZES), 400, 9)
    start = np.ones(12)
    start[11] = 0  # the fullest cell
    fit = maximise(in_memory(halves), split, start, gap=1e-6)
    assert fit.table[11] == 0
    assert fit.gap <= 1e-6
    for wrong in (np.zeros(12), -start, np.ones(11), np.full(12, np.nan)):
        with pytest.raises(ValueError, match="non-negative numbers"):
            maximise(in_memory(halves), split, wrong)
    prior = Prior(table=np.full(12, 1 / 12), weight=1.0, reason="a test")
    with pytest.raises(ValueError, match="positive wherever the prior is"):
        maximise(in_memory(halves), split, start, prior=prior)
    with pytest.raises(ValueError, match="add up to 1"):
        Prior(table=np.ones(3), weight=1.0, reason="a test")


def test_an_early_end_says_so() -> None:
    split, halves = Split(SIZES), simulated(SIZES, truth(SIZES), 400, 10)
    seen: list[tuple[int, float]] = []
    fit = maximise(in_memory(halves), split, np.ones(12), gap=1e-12, passes=4, progress=lambda *now: seen.append(now))
    assert fit.reason.startswith("stopped after")
    assert fit.gap == seen[-1][1] > 1e-12


def errors_of_both(table: np.ndarray, draws: int = 6, users: int = 3000) -> tuple[float, float, float]:
    """Half the mean L1 error of the table left early, of the maximum, and of the product of the true one-way tables."""
    split, errors = Split(table.shape), []
    margins = [table.sum(axis=tuple(a for a in range(3) if a != axis)) for axis in range(3)]
    for seed in range(draws):
        fold = in_memory(simulated(table.shape, table.ravel(), users, 20 + seed))
        found = regularised(fold, split, independent(margins))
        assert "stopped early on purpose" in found.fit.reason
        assert found.support == (found.maximum.table > 1e-7).sum()
        shortfall = (found.maximum.log_likelihood - found.fit.log_likelihood) * users
        assert 0 <= shortfall <= found.support / 4
        errors.append([np.abs(fit.table - table.ravel()).sum() / 2 for fit in (found.fit, found.maximum)])
    early, late = np.mean(errors, axis=0)
    return float(early), float(late), float(np.abs(independent(margins) - table.ravel()).sum() / 2)


def correlated(rest: float) -> np.ndarray:
    """A 4 x 5 x 4 table of 8 cells, and `rest` spread over all."""
    table = np.zeros((4, 5, 4))
    for code in range(4):
        table[code, code, code], table[code, code + 1, code] = 0.2, 0.05
    return (1 - rest) * table + rest / table.size


def test_stopping_early_is_nearer_to_the_truth_and_gives_its_reason() -> None:
    early, late, product = errors_of_both(correlated(rest=0.5))
    assert early < 0.9 * late
    assert early < product


@pytest.mark.slow
def test_of_a_table_of_few_cells_the_maximum_is_nearer() -> None:
    """The limit that the docstring states; both are returned."""
    early, late, product = errors_of_both(correlated(rest=0.0))
    assert late < early < product


def test_independence_is_the_product_of_projected_tables() -> None:
    assert np.allclose(independent([np.array([0.0, 0.0]), np.array([3.0, 1.0])]), [0.375, 0.125, 0.375, 0.125])
    table = independent([np.array([5.0, -1.0, 1.0])])
    assert table.min() == 0
    assert table.sum() == pytest.approx(1)


def test_the_information_is_the_second_derivative() -> None:
    split, halves = Split(SIZES), simulated(SIZES, truth(SIZES), 60, 11)
    table, cells = np.full(12, 1 / 12), np.array([0, 4, 7, 11])
    dense = likelihoods(halves, split)
    ratio = dense[:, cells] / (dense @ table)[:, None]
    assert np.allclose(information(in_memory(halves, block=9), split, table, cells), ratio.T @ ratio)
