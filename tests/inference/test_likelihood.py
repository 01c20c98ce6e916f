"""The two factors of the likelihood against loops over cells; folds that agree; what is refused."""

import itertools

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.inference.joint.bit_evidence import BitEvidence, one_hot
from dpress.inference.joint.likelihood import Halves, Split, in_memory

Q_STAR, P_STAR = 0.7, 0.4


def uniforms(*shape: int, seed: int = 1) -> np.ndarray:
    return (rng.seeded(seed).words(int(np.prod(shape))) / 2.0**64).reshape(shape)


@pytest.mark.parametrize("sizes", [(4,), (2, 3), (3, 2, 4), (2, 5, 3, 2), (1, 3), (7, 2, 1, 3, 2)])
def test_a_split_only_reorders(sizes: tuple[int, ...]) -> None:
    split = Split(sizes)
    table = np.arange(split.cells)
    matrix = split.matrix(table)
    assert matrix.shape == split.shape
    assert np.array_equal(split.table(matrix), table)
    best = min(
        np.prod([sizes[axis] for axis in own]) + split.cells // np.prod([sizes[axis] for axis in own])
        for length in range(len(sizes) + 1)
        for own in itertools.combinations(range(len(sizes)), length)
    )
    assert sum(split.shape) == best


@pytest.mark.parametrize("sizes", [(4,), (2, 3), (3, 2, 4), (2, 5, 3, 2)])
def test_halves_are_the_likelihoods_of_the_cells(sizes: tuple[int, ...]) -> None:
    split, rows = Split(sizes), 5
    parts = [uniforms(rows, size, seed=axis) for axis, size in enumerate(sizes)]
    halves = split.halves(parts)
    cells = np.array([[np.prod([part[i, v] for part, v in zip(parts, w, strict=True)]) for w in np.ndindex(*sizes)]
                      for i in range(rows)])  # fmt: skip
    ours = np.array([split.table(np.outer(halves.left[i], halves.right[i])) for i in range(rows)])
    assert np.allclose(ours, cells / cells.max(axis=1, keepdims=True))  # known up to a factor a report


def test_what_is_no_likelihood_is_refused() -> None:
    split = Split((2, 3))
    with pytest.raises(ValueError, match="columns"):
        split.halves([np.ones((4, 2)), np.ones((4, 2))])
    with pytest.raises(ValueError, match="columns"):
        split.halves([np.ones((4, 2)), np.ones((5, 3))])
    with pytest.raises(ValueError, match="not all zero"):
        split.halves([np.zeros((4, 2)), np.ones((4, 3))])
    with pytest.raises(ValueError, match="not all zero"):
        split.halves([np.full((4, 2), np.nan), np.ones((4, 3))])
    with pytest.raises(ValueError, match="counts"):
        split.halves([np.ones((4, 2)), np.ones((4, 3))], np.ones(3))
    with pytest.raises(ValueError, match="at least one value"):
        Split((2, 0))
    with pytest.raises(ValueError, match="at most 16"):
        _ = Split((2,) * 17).left


@pytest.mark.parametrize(("threads", "block"), [(1, 1), (1, 7), (2, 3), (3, 100), (8, 5)])
def test_blocks_and_threads_add_up_to_the_same(threads: int, block: int) -> None:
    halves = Halves(left=uniforms(20, 3), right=uniforms(20, 4, seed=2), counts=uniforms(20, seed=3))
    total = in_memory(halves, threads=threads, block=block)(lambda own: own.left.T @ (own.right * own.counts[:, None]))
    assert np.allclose(total, halves.left.T @ (halves.right * halves.counts[:, None]))


@pytest.mark.parametrize("rows", [1, 6, 7, 700, 5000])
def test_threads_change_no_bit_of_a_sum(rows: int) -> None:
    halves = Halves(left=uniforms(rows, 3), right=uniforms(rows, 4, seed=2), counts=uniforms(rows, seed=3))

    def total(threads: int, block: int = 7) -> np.ndarray:
        fold = in_memory(halves, threads=threads, block=block)
        return fold(lambda own: own.left.T @ (own.right * own.counts[:, None]))

    assert all(np.array_equal(total(threads), total(1)) for threads in (2, 3, 4, 8))
    if rows > 100:
        assert not np.array_equal(total(1, block=5), total(1))  # other blocks, other roundings: the control


def test_no_report_is_a_sum_of_nothing() -> None:
    empty = Halves(left=np.ones((0, 2)), right=np.ones((0, 3)), counts=np.ones(0))
    assert np.array_equal(in_memory(empty)(lambda own: own.left.T @ own.right), np.zeros((2, 3)))


@pytest.mark.parametrize("cohorts", [1, 3])
def test_evidence_is_the_product_of_the_bits_probabilities(cohorts: int) -> None:
    design = uniforms(cohorts, 4, 5) < 0.4
    evidence = BitEvidence(design=design, q_star=Q_STAR, p_star=P_STAR)
    strings = (uniforms(9, 4, seed=2) < 0.5).astype(np.uint8)
    cohort = np.arange(9) % cohorts
    ours = evidence.likelihoods(strings, cohort)
    rate = np.where(design, Q_STAR, P_STAR)[cohort]
    exact = np.where(strings[:, :, None] == 1, rate, 1 - rate).prod(axis=1)
    assert np.allclose(ours, exact / exact.max(axis=1, keepdims=True), rtol=1e-5)
    tally = evidence.tally(strings, cohort)
    assert tally[:, -1].sum() == 9
    assert np.array_equal(tally[:, :-1].sum(axis=0), strings.sum(axis=0))


def test_evidence_of_one_hot_strings_is_r_to_the_bit() -> None:
    strings = np.array([[0, 1, 1], [0, 0, 0]], dtype=np.uint8)
    r = Q_STAR * (1 - P_STAR) / (P_STAR * (1 - Q_STAR))
    ours = one_hot(3, q_star=Q_STAR, p_star=P_STAR).likelihoods(strings)
    assert np.allclose(ours, [[1 / r, 1, 1], [1, 1, 1]], rtol=1e-6)


def test_evidence_names_what_is_missing() -> None:
    with pytest.raises(ValueError, match="cohorts"):
        BitEvidence(design=np.ones((2, 2, 2), dtype=bool), q_star=0.7, p_star=0.4).likelihoods(
            np.ones((1, 2), np.uint8)
        )
    with pytest.raises(ValueError, match="p\\* < q\\*"):
        one_hot(2, q_star=0.4, p_star=0.7)
