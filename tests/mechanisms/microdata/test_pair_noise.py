"""The noise of tables of pairs, before a row is read: that of tables as they are measured."""

import numpy as np
import pytest
from tests.mechanisms.microdata.test_graphical import category, number

from dpress.core.basics import rng
from dpress.core.basics.claim import ROW
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.methods.people import Codes, in_memory
from dpress.mechanisms.microdata.graphical import Graphical, graphical
from dpress.mechanisms.microdata.grouped_tables import GroupedTable, exact
from dpress.mechanisms.microdata.pair_noise import pair_noise

COLUMNS = (category("a", 8), category("b", 12), number("c", 16), category("d", 9))
ROWS = 40_000
RUNS = 12
TOLERANCE = 0.065
"""Six standard errors of the mean of |noise| over 740 cells of RUNS releases, 1.1 % at most: false alarms < 1e-6."""


@pytest.mark.parametrize("loss", [PureDP(epsilon="2"), ZCDP(rho="0.05")], ids=["epsilon", "rho"])
def test_it_is_what_tables_with_noise_are_off_by(loss: PureDP | ZCDP) -> None:
    method = graphical(COLUMNS, loss, ROW)
    assert method is not None
    words = rng.seeded(3).words(4 * ROWS).reshape(4, ROWS) >> np.uint64(8)
    codes = np.stack([row % size for row, size in zip(words, method.shape, strict=True)]).astype(np.int32)
    predicted = pair_noise(method, ROWS)
    found = graphical_measured(method, codes)
    assert found == pytest.approx(predicted, rel=TOLERANCE)
    assert found != pytest.approx(1.2 * predicted, rel=TOLERANCE)


def graphical_measured(method: Graphical, codes: Codes) -> float:
    """The mean distance of the tables as releases measure them, every cell by itself."""
    parts = [
        GroupedTable(shape=method.shape, axes=(a, b), groups=(np.arange(method.shape[a]), np.arange(method.shape[b])))
        for a, b in method.pairs
    ]
    counts = exact(parts, in_memory(codes))
    way, off = method.measuring(parts, method.tables), list[float]()
    for run in range(RUNS):
        noisy = way.noisy(np.concatenate(counts), rng=rng.seeded(run))
        off += [np.abs(one.answers - own).sum() / (2 * ROWS) for one, own in zip(noisy.parts, counts, strict=True)]
    return float(np.mean(off))


def test_some_pairs_have_no_such_figure() -> None:
    some = graphical(COLUMNS, ZCDP(rho="0.05"), ROW, rounds=2)
    assert some is not None
    with pytest.raises(ValueError, match="all pairs"):
        pair_noise(some, ROWS)
