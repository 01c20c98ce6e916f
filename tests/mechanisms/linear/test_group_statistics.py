"""`group_statistics`: what is summed, what it costs, and what the sums determine."""

from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.mechanisms.linear.group_distribution import GroupDistribution
from dpress.mechanisms.linear.group_statistics import GroupStatistics, example
from dpress.mechanisms.linear.hierarchy import Hierarchy
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.moment_sums import MomentSums

SHAPE = (3, 12, 2)
RNG = np.random.default_rng(5)  # noqa: TID251  # made-up rows
CODES = np.array([RNG.integers(0, size, 500) for size in SHAPE], dtype=np.int32)


@pytest.mark.parametrize("degree", [1, 2])
def test_the_sums_are_count_sum_and_sum_of_squares(degree: int) -> None:
    steps = 9  # codes 10 and 11 are none
    part = MomentSums(shape=SHAPE, by=(0,), degree=degree, steps=steps, axis=1)
    sums = part.sums(CODES).reshape(3, degree + 1) * part.step
    for group in range(3):
        levels = CODES[1][(CODES[0] == group) & (CODES[1] <= steps)]
        t = 2 * levels / steps - 1
        assert sums[group].sum() == pytest.approx(len(levels))
        assert sums[group][-1] - sums[group][0] == pytest.approx(t.sum())
        if degree == 2:
            assert sums[group][0] - sums[group][1] + sums[group][2] == pytest.approx((t**2).sum())


def test_a_condition_counts_those_it_holds_for_and_the_others() -> None:
    part = MomentSums(shape=SHAPE, by=(0,), degree=1, where=((1, (0, 5)), (2, (1,))))
    holds = np.isin(CODES[1], (0, 5)) & (CODES[2] == 1)
    for group, (no, yes) in enumerate(part.sums(CODES).reshape(3, 2)):
        assert (no, yes) == ((~holds & (CODES[0] == group)).sum(), (holds & (CODES[0] == group)).sum())


def test_of_a_condition_among_some_rows_the_others_count_as_neither() -> None:
    part = MomentSums(shape=SHAPE, by=(0,), degree=1, where=((1, (0, 5)),), among=((1, (0, 3, 5)), (2, (1,))))
    among, holds = np.isin(CODES[1], (0, 3, 5)) & (CODES[2] == 1), np.isin(CODES[1], (0, 5))
    for group, (no, yes) in enumerate(part.sums(CODES).reshape(3, 2)):
        inside = among & (CODES[0] == group)
        assert (no, yes) == ((inside & ~holds).sum(), (inside & holds).sum())
    assert not part.counts_all
    assert part.tested == (1, 2)
    every = np.array(list(np.ndindex(SHAPE)), dtype=np.int32).T  # a row of every kind
    changes = {int(np.abs(part.sums(row[:, np.newaxis])).sum()) for row in every.T}
    assert changes == {0, part.sensitivity(1, Relation.ADD_REMOVE)}


def test_a_distribution_counts_the_cells_of_levels() -> None:
    part = GroupDistribution(
        shape=SHAPE, by=(2, 0), axis=1, levels=10, tree=Hierarchy(4, 4), quantiles=(Fraction(1, 2),)
    )
    counts = part.sums(CODES).reshape(2, 3, 4)
    known = CODES[1] < 10
    assert counts.sum() == known.sum()
    assert counts[1, 2, 3] == (known & (CODES[2] == 1) & (CODES[0] == 2) & (CODES[1] * 4 // 10 == 3)).sum()
    assert np.array_equal(part.answers(counts.ravel()), part.nodes.apply(counts.ravel()))


@pytest.mark.parametrize("part", example().parts)
@pytest.mark.parametrize("order", [1, 2])
def test_sensitivities_are_those_of_every_pair_of_rows(part: MomentSums | GroupDistribution, order: int) -> None:
    columns = np.array([part.apply(cell) for cell in np.eye(part.cells, dtype=np.int64)])
    assert part.sensitivity(order, Relation.ADD_REMOVE) == (np.abs(columns) ** order).sum(axis=1).max()
    apart = max((np.abs(one - other) ** order).sum() for one in columns for other in columns)
    assert part.sensitivity(order, Relation.REPLACE_ONE) == apart


def test_the_sums_of_rows_are_the_map_of_their_table() -> None:
    strategy = example()
    shape = strategy.decoder.shape
    codes = np.array([RNG.integers(0, size, 200) for size in shape], dtype=np.int32)
    table = np.bincount(np.ravel_multi_index(codes, shape), minlength=int(np.prod(shape)))
    assert np.array_equal(strategy.decoder.answers(strategy.decoder.sums(codes)), strategy.map.apply(table))
    answers = RNG.normal(size=strategy.map.rows)
    assert strategy.map.transpose(answers) @ table == pytest.approx(answers @ strategy.map.apply(table))


def test_the_largest_lattice_is_summed_without_a_rounding() -> None:
    part = MomentSums(shape=(1 << 20,), by=(), degree=1, steps=(1 << 20) - 1, axis=0)
    codes = np.full((1, 1 << 17), (1 << 20) - 1, dtype=np.int32)
    codes[0, 0] = 1
    assert part.sums(codes).tolist() == [(1 << 20) - 2, 1 + ((1 << 17) - 1) * ((1 << 20) - 1)]


def test_noise_is_that_of_one_count_whatever_is_summed() -> None:
    part = MomentSums(shape=(2, 101), by=(0,), degree=2, steps=100, axis=1)
    own = MatrixMechanism(strategy=GroupStatistics(moments=(part,), shares=(Fraction(1),)), loss=PureDP(epsilon=1))
    assert [noise.scale * Fraction(1, part.whole) for noise in own.noises] == [1]
    persons = Unit(column="uid", rows=4, relation=Relation.REPLACE_ONE)
    own = MatrixMechanism(strategy=own.strategy, loss=ZCDP(rho="0.5"), unit=persons)
    assert [noise.sigma2 / part.whole**2 for noise in own.noises] == [2 * 16]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"axis": 5}, "different axes of a table of 3 axes"),
        ({"axis": None}, "a level is the code of one axis"),
        ({"where": ((2, (1,)),)}, "a level is the code of one axis"),
        ({"among": ((2, (1,)),)}, "rows are left out of a condition alone"),
        ({"steps": 1 << 16, "degree": 2}, r"steps\^degree must lie between 1 and 2\^31"),
    ],
)
def test_what_is_no_sum_is_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MomentSums(**{"shape": SHAPE, "by": (0,), "degree": 1, "steps": 3, "axis": 1} | given)  # type: ignore[arg-type]
