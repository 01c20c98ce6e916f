"""Tables of regions: what is measured against a dense matrix, the claim by brute force over neighbours, estimates."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import ROW, Relation, Unit
from dpress.core.basics.losses.any_loss import part_of
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.region_table import RegionTable
from dpress.core.maps.spine import Spine
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.region_tables import PublicTotals, RegionTables
from dpress.mechanisms.linear.spine_marginals import SpineMarginals, example

SPINES = [
    Spine(starts=(np.array([0, 2]), np.array([0, 1, 3]))),
    Spine(starts=(np.array([0, 1]), np.array([0, 3]))),
    Spine(starts=(np.array([0, 2]), np.array([0, 2, 3]), np.array([0, 1, 3, 4]))),
]
LOSSES: list[Loss] = [PureDP(epsilon="0.7"), ZCDP(rho="0.3")]


def strategy(spine: Spine) -> SpineMarginals:
    tables = (((),), *((((), (0,), (0, 1)),) * (spine.depth - 1)), ((1,), (0, 1)))
    count = sum(map(len, tables))
    return SpineMarginals(spine=spine, shape=(2, 2), tables=tables, shares=(Fraction(1, count),) * count)


@pytest.mark.parametrize("spine", SPINES)
def test_a_table_is_the_sum_of_the_cells_of_its_regions(spine: Spine) -> None:
    leaves = (rng.seeded(1).words(spine.sizes[-1] * 4) % np.uint64(9)).astype(np.int64).reshape(-1, 2, 2)
    for level, axes in itertools.product(range(spine.depth + 1), [(), (0,), (1,), (0, 1)]):
        table = RegionTable(spine, (2, 2), level, axes)
        dense = np.array([table.apply(cell) for cell in np.eye(table.cells, dtype=np.int64)]).T
        assert np.array_equal(dense @ leaves.ravel(), table.apply(leaves.ravel()))
        assert np.array_equal(dense.sum(axis=0), np.ones(table.cells))  # a row is in one cell
        weights = np.arange(table.rows, dtype=float)
        assert np.array_equal(table.transpose(weights), dense.T @ weights)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("spine", SPINES)
def test_the_claim_is_what_the_worst_neighbour_costs(spine: Spine, loss: Loss, relation: Relation) -> None:
    """By brute force over every row that comes, goes or moves; noise that is 5 % too small is found."""
    mechanism = MatrixMechanism(strategy=strategy(spine), loss=loss, unit=Unit(relation=relation))
    columns = [mechanism.strategy.map.apply(cell) for cell in np.eye(mechanism.strategy.map.cells, dtype=np.int64)]
    changes = [*columns, *(first - second for first, second in itertools.combinations(columns, 2))]
    if relation is Relation.ADD_REMOVE:
        changes = columns

    def worst(factor: Fraction) -> Fraction:
        ends = np.cumsum([part.rows for part in mechanism.parts])[:-1]
        return max(
            sum(
                Fraction(int((np.abs(part) ** loss.order).sum())) / (noise.order * noise.spread * factor)
                for noise, part in zip(mechanism.noises, np.split(change, ends), strict=True)
            )
            for change in changes
        )

    assert worst(Fraction(1)) <= loss.amount
    assert worst(Fraction(95, 100)) > loss.amount or relation is Relation.REPLACE_ONE
    if relation is Relation.ADD_REMOVE:
        assert worst(Fraction(1)) == loss.amount


def test_public_totals_are_answered_without_noise_and_cost_nothing() -> None:
    made = example()
    tables = (made.tables[0], ((0, 1),), made.tables[2])
    shares = (Fraction(1, 4), Fraction(1, 4), Fraction(1, 4), Fraction(1, 4))
    inner = SpineMarginals(spine=made.spine, shape=made.shape, tables=tables, shares=shares)
    noisy = MatrixMechanism(strategy=inner, loss=ZCDP(rho=1), unit=ROW)
    given = RegionTables(noisy=noisy, public=(PublicTotals(level="state", depth=1),))
    assert given.claim.proven == noisy.claim.proven == ZCDP(rho=1)
    assert (given.claim.given, noisy.claim.given) == ("the public totals of every state", "")

    class Rows:
        def tables(self, tables: list[tuple[int, ...]]) -> np.ndarray:
            assert tables == [(0, 1, 2)]
            return np.arange(12)

    output = given.prepare(Rows()).__call__(rng.seeded(2)).output  # type: ignore[arg-type]
    assert output.levels[1][()].tolist() == [0 + 1 + 2 + 3, sum(range(4, 12))]  # type: ignore[union-attr]
    assert (output.levels[1][0, 1].ravel() != np.array([0, 1, 2, 3, 12, 14, 16, 18])).any()  # type: ignore[union-attr]
    assert given.queries.measured.variances[1][()] == 0.0
    assert all(variance > 0 for table, variance in given.queries.measured.variances[2].items())


def test_totals_that_are_public_are_not_measured_as_well() -> None:
    noisy = MatrixMechanism(strategy=example(), loss=ZCDP(rho=1), unit=ROW)
    with pytest.raises(ValueError, match="public totals of state: they are also measured"):
        RegionTables(noisy=noisy, public=(PublicTotals(level="state", depth=1),))
    with pytest.raises(ValueError, match="expected 3 numbers"):
        RegionTables(noisy=noisy, public=(PublicTotals(level="leaf", depth=2, counts=(1, 2)),))
    assert part_of(ZCDP(rho=1), Fraction(1, 2)) == ZCDP(rho="0.5")


def test_tables_stand_for_every_level_and_once() -> None:
    made = example()
    with pytest.raises(ValueError, match="tables must be stated for 3 levels, got 2"):
        SpineMarginals(spine=made.spine, shape=made.shape, tables=made.tables[:2], shares=made.shares)
    with pytest.raises(ValueError, match="level 0: tables must be different sets of attributes"):
        SpineMarginals(spine=made.spine, shape=made.shape, tables=(((1, 0),), *made.tables[1:]), shares=made.shares)
