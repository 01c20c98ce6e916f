"""Tables of regions beside public totals: what the promise is between tables that have these totals."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.region_tables import PublicTotals, RegionTables
from dpress.mechanisms.linear.spine_marginals import SpineMarginals, example

STATES = ((0,), (1, 2))  # the leaves of each
CELLS = 4


def given_totals(loss: Loss, relation: Relation) -> RegionTables:
    """Return tables of two states whose totals are public."""
    made, tables = example(), (((0,),), ((0, 1),), ((0,), (1,)))
    shares = (Fraction(1, 4),) * 4
    strategy = SpineMarginals(spine=made.spine, shape=made.shape, tables=tables, shares=shares)
    noisy = MatrixMechanism(strategy=strategy, loss=loss, unit=Unit(relation=relation))
    return RegionTables(noisy=noisy, public=(PublicTotals(level="state", depth=1, counts=(1, 2)),))


def worst_within_a_state(made: RegionTables) -> Fraction:
    """Return the largest loss between tables that differ by a row which changes within its state."""
    columns = [made.strategy.map.apply(row) for row in np.eye(made.strategy.map.cells, dtype=np.int64)]
    ends, order = np.cumsum([part.rows for part in made.noisy.parts])[:-1], made.noisy.loss.order
    places = [[leaf * CELLS + cell for leaf in leaves for cell in range(CELLS)] for leaves in STATES]
    return max(
        sum(
            Fraction(int((np.abs(part) ** order).sum())) / (noise.order * noise.spread)
            for noise, part in zip(made.noisy.noises, np.split(columns[a] - columns[b], ends), strict=True)
        )
        for state in places
        for a, b in itertools.combinations(state, 2)
    )


@pytest.mark.parametrize("loss", [PureDP(epsilon=1), ZCDP(rho=1)])
def test_a_row_that_changes_within_its_region_costs_twice_the_claim_or_the_claim_itself(loss: Loss) -> None:
    """Twice where the noise is for a row that comes or goes, once where it is for a row that changes."""
    assert worst_within_a_state(given_totals(loss, Relation.ADD_REMOVE)) == 2 * loss.amount
    assert worst_within_a_state(given_totals(loss, Relation.REPLACE_ONE)) == loss.amount
