"""The predicted error of pairs: of many rows it is the noise's, of few it sends the loss to the one-way tables."""

from fractions import Fraction

import numpy as np
import pytest
from tests.mechanisms.microdata.test_graphical import COLUMNS, people

from dpress.core.basics import rng
from dpress.core.basics.claim import ROW
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.methods.people import in_memory
from dpress.mechanisms.microdata.graphical import AGAIN, graphical
from dpress.mechanisms.microdata.grouped_tables import exact, one_way_parts
from dpress.mechanisms.microdata.one_way_tables import OneWayTables, one_way_tables
from dpress.mechanisms.microdata.shared_loss import DEPENDENCE, best_share, noise

LOSSES = [PureDP(epsilon="1"), ZCDP(rho="0.02")]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])


def measured(loss: Loss, rows: int) -> tuple[OneWayTables, Loss]:
    method = graphical(COLUMNS, loss, ROW)
    assert method is not None
    counts = np.concatenate(exact(one_way_parts(method.shape), in_memory(people(rows))))
    noisy = method.first.noisy(counts, rng=rng.seeded(2))
    return one_way_tables(COLUMNS, noisy, method.deviation), method.tables


@every_loss
def test_few_rows_send_the_loss_to_one_way_tables_and_many_to_pairs(loss: Loss) -> None:
    found = [best_share(*measured(loss, rows), AGAIN, ROW) for rows in (30, 100_000)]
    assert (found[0] > 0, found[1]) == (True, 0)
    assert best_share(*measured(loss, 30), (), ROW) == 0


@every_loss
@pytest.mark.parametrize("share", AGAIN, ids=str)
def test_the_noise_is_that_of_the_tables_as_they_are_measured(loss: Loss, share: Fraction) -> None:
    one_way, rest = measured(loss, 20_000)
    found, method = noise(one_way, rest, share, ROW), graphical(COLUMNS, loss, ROW)
    assert method is not None
    if share < 1:
        part = method.measuring([one_way.table(pair) for pair in method.pairs], rest.of(rest.amount * (1 - share)))
        assert [found.pairs[pair] for pair in method.pairs] == [noise.variance for noise in part.noises]
    assert np.isinf(found.pairs).sum() == (4 if share < 1 else 16)
    if share:
        again = method.measuring(one_way_parts(method.shape), rest.of(rest.amount * share)).noises
        both = [1 / (1 / old + 1 / new.variance) for old, new in zip(one_way.variances, again, strict=True)]
        assert found.one_way == pytest.approx(both)
    else:
        assert found.one_way == pytest.approx(one_way.variances)


@every_loss
def test_it_falls_with_rows_and_is_at_most_all_there_is(loss: Loss) -> None:
    errors = [noise(*measured(loss, rows), Fraction(0), ROW).error for rows in (300, 3000, 30_000, 300_000)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.01
    assert noise(*measured(loss, 300_000), Fraction(1), ROW).error == pytest.approx(DEPENDENCE, rel=0.01)
    assert noise(*measured(loss, 10), Fraction(0), ROW).error < 1.01
