"""Consistent marginals: tables, answers and variances against dense weighted least squares."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.maps.linear import LinearMap, Marginal, Stack
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Decoder
from dpress.inference.consistency import ConsistentTables
from dpress.inference.least_squares import flat

Solve = Callable[..., tuple[np.ndarray, np.ndarray]]
STACK = Stack((Marginal((2, 3, 2), (1, 0)), Marginal((2, 3, 2), (1, 2))))


def per_table(stack: Stack, values: list[float]) -> np.ndarray:
    return np.repeat(np.array(values[: len(stack.parts)]), [part.rows for part in stack.parts])


def product_query(shape: tuple[int, ...], axes: tuple[int, ...], seed: int) -> list[np.ndarray]:
    words = [rng.seeded(seed + axis).words(size) / 2.0**64 for axis, size in enumerate(shape)]
    return [words[axis] if axis in axes else np.ones(size) for axis, size in enumerate(shape)]


@st.composite
def stacks(draw: st.DrawFn) -> Stack:
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    axes = st.sets(st.sampled_from(range(len(shape)))).flatmap(lambda some: st.permutations(sorted(some))).map(tuple)
    sets = draw(st.lists(axes, min_size=1, max_size=4, unique_by=frozenset))
    return Stack(tuple(Marginal(shape, one) for one in sets))


@pytest.mark.slow
@given(stacks(), st.lists(st.floats(0.2, 9), min_size=4, max_size=4), st.integers(0, 2**32))
@settings(deadline=None)
def test_everything_equals_dense_weighted_least_squares(
    dense: Callable[[LinearMap], np.ndarray], solution: Solve, stack: Stack, values: list[float], seed: int
) -> None:
    variance = per_table(stack, values)
    back, covariance = solution(dense(stack), variance)
    decoder = ConsistentTables(stack)
    answers = 20 * (rng.seeded(seed).words(stack.rows) / 2.0**64) - 5
    measured = Measurement(map=stack, answers=answers, variance=variance)
    parts = zip(stack.parts, decoder.estimate(measured), decoder.cell_variances(variance), strict=True)
    for part, table, spread in parts:
        assert np.allclose(table, part.apply(back @ answers), rtol=1e-8, atol=1e-8)
        queries = dense(part)
        assert np.allclose(spread, np.einsum("ij,jk,ik->i", queries, covariance, queries), rtol=1e-8)
    for axes in decoder.tables:
        weights = product_query(decoder.shape, axes, seed)
        query = flat(weights)
        assert np.isclose(decoder.answer(measured, weights), query @ back @ answers, rtol=1e-8, atol=1e-8)
        assert np.isclose(decoder.query_variance(variance, weights), query @ covariance @ query, rtol=1e-8)


def test_tables_agree_wherever_they_overlap() -> None:
    answers = np.array([5, 1, 9, 2, 8, 4, 3, 3, 7, 1, 1, 6])
    first, second = ConsistentTables(STACK).estimate(Measurement(map=STACK, answers=answers, variance=1.0))
    assert np.allclose(first.reshape(3, 2).sum(axis=1), second.reshape(3, 2).sum(axis=1))
    raw = STACK.split(answers)
    assert not np.allclose(raw[0].reshape(3, 2).sum(axis=1), raw[1].reshape(3, 2).sum(axis=1))  # the control


def test_consistency_never_makes_a_cell_less_certain() -> None:
    for values in itertools.product([0.5, 1.0, 20.0], repeat=2):
        variances = ConsistentTables(STACK).cell_variances(per_table(STACK, list(values)))
        assert all(after[0] < before for after, before in zip(variances, values, strict=True))


def test_exact_tables_are_reproduced() -> None:
    counts = np.arange(12)
    measured = Measurement(map=STACK, answers=STACK.apply(counts), variance=1.0)
    for table, part in zip(ConsistentTables(STACK).estimate(measured), STACK.parts, strict=True):
        assert np.allclose(table, part.apply(counts))


def test_a_table_that_was_not_measured_counts_for_nothing() -> None:
    whole = Stack((Marginal((2, 3), (0, 1)), Marginal((2, 3), (0,))))
    alone = Stack(whole.parts[:1])
    answers = np.array([4, 2, 7, 1, 1, 9, 100, 200])
    variance = np.array([2.0] * 6 + [math.inf] * 2)
    both = ConsistentTables(whole).estimate(Measurement(map=whole, answers=answers, variance=variance))
    only = ConsistentTables(alone).estimate(Measurement(map=alone, answers=answers[:6], variance=2.0))
    assert np.allclose(both[0], only[0])
    assert np.allclose(both[1], [13, 11])


def test_a_query_over_axes_that_no_table_holds_together_is_refused() -> None:
    decoder = ConsistentTables(STACK)
    weights = product_query((2, 3, 2), (0, 2), 1)
    with pytest.raises(NotSupported, match=r"no published table holds the axes \[0, 2\] together"):
        decoder.query_variance(1.0, weights)
    with pytest.raises(NotSupported, match="together"):
        decoder.answer(Measurement(map=STACK, answers=np.zeros(12), variance=1.0), weights)


def test_unequal_noise_within_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match="within one marginal table must have one variance"):
        ConsistentTables(STACK).cell_variances(np.arange(1.0, 13.0))


def test_tables_keep_the_order_of_their_axes() -> None:
    assert ConsistentTables(STACK).tables == ((1, 0), (1, 2))
    assert ConsistentTables(STACK).shape == (2, 3, 2)
    assert isinstance(ConsistentTables(STACK), Decoder)
