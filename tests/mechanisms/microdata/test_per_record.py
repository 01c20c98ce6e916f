"""`per_record`: the exact loss of its channels, sampled against them, and the number of records."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.mixed import Column, columns, example
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics import rng
from dpress.core.basics.claim import ROW, Relation, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.methods.people import in_memory
from dpress.mechanisms.microdata.documents.per_record import CARD, PerRecord
from dpress.noise.laplace import DiscreteLaplace
from dpress.noise.response import truth_probability

COLUMNS = (*example(), *columns([Categorical(name="only", values=("x",)), Integer(name="one", bounds=(2, 2))]))
PERSON = Unit(column="uid", rows=3)
LIMIT = 5.0  # standard errors: passed by chance 6e-7, times 24 cells still 2e-5; the seed is fixed


def channel(column: Column, share: Fraction) -> np.ndarray:
    """The probability of every released cell for every cell, shape (size, size), from the samplers' definitions."""
    if not column.numeric:
        p = float(truth_probability(share, Fraction(column.size - 1)))
        return np.where(np.eye(column.size) == 1, p, (1 - p) / (column.size - 1))
    noise = DiscreteLaplace.calibrate(epsilon=share, l1_sensitivity=2 * column.span)
    x = np.arange(-4000, 4001)
    rows = [np.bincount(column.nearest(unit + x), noise.pmf(x), column.size) for unit in column.units]
    return np.array(rows)


def test_the_attributes_of_all_rows_of_a_unit_compose_to_epsilon():
    for unit in (ROW, PERSON):
        method = PerRecord(columns=COLUMNS, loss=PureDP(epsilon="1.5"), users=4, unit=unit)
        losses = [np.log(channel(column, method.share)) for column in COLUMNS if column.size > 1]
        worst = [max((a - b).max() for a, b in itertools.permutations(loss, 2)) for loss in losses]
        assert sum(worst) * unit.rows <= 1.5 + 1e-9
        assert sum(worst) * unit.rows > 1.2
        assert method.claim.proven == method.claim.published == PureDP(epsilon="1.5")


def test_a_channel_with_the_whole_epsilon_for_every_attribute_spends_more_than_it():
    losses = [np.log(channel(column, Fraction(3, 2))) for column in example()]
    assert sum(max((a - b).max() for a, b in itertools.permutations(loss, 2)) for loss in losses) > 1.5 * 1.5


def test_released_cells_have_the_probabilities_of_the_channel():
    method, rows = PerRecord(columns=COLUMNS, loss=PureDP(epsilon=2), users=4), 20_000
    for code in (0, 2):
        codes = np.array([[code], [code], [0], [0]], dtype=np.int32).repeat(rows, axis=1)
        out = method.perturbed(codes, rng=rng.seeded(7))
        for column, own in zip(COLUMNS[:2], out, strict=False):
            share = np.bincount(own, minlength=column.size) / rows
            wanted, doubled = (channel(column, times * method.share)[code] for times in (1, 2))
            errors = np.sqrt(wanted * (1 - wanted) / rows)
            assert (np.abs(share - wanted) < LIMIT * errors).all()
            assert (np.abs(share - doubled) > LIMIT * errors).any()
        assert not out[2:].any()


@pytest.mark.parametrize("users", [3, 8, 20])
def test_the_number_of_records_is_the_public_one_whatever_the_table(users):
    codes = np.array([[4] * 8, [1] * 8, [0] * 8, [0] * 8], dtype=np.int32)
    method = PerRecord(columns=COLUMNS, loss=PureDP(epsilon=500), users=users)
    out = method.release(in_memory(codes), rng=rng.seeded(2))
    assert out.codes.shape == (4, users)
    assert not out.aligned
    assert (out.codes[1] == 1).sum() == min(8, users)


def test_the_variance_of_a_number_is_that_of_the_noise_until_it_is_clipped():
    wide = columns([Integer(name="x", bounds=(-50_000, 50_000))])
    method = PerRecord(columns=wide, loss=PureDP(epsilon=200), users=1)
    out = method.perturbed(np.full((1, 20_000), 50_000, dtype=np.int32), rng=rng.seeded(3))
    variance = 2 * (100_000 / 200) ** 2
    assert math.isclose(float(((out[0] - 50_000.0) ** 2).mean()), variance, rel_tol=LIMIT * math.sqrt(5 / 20_000))


def test_what_it_does_not_serve():
    unit = Unit(relation=Relation.REPLACE_ONE)
    made = CARD.synthesizer(COLUMNS, PureDP(epsilon=1), unit, users=9)
    assert (made.users, made.claim.unit) == (9, unit)
    with pytest.raises(NotSupported, match="calibrated to epsilon, got rho = 1"):
        CARD.synthesizer(COLUMNS, ZCDP(rho=1), ROW, users=9)
    with pytest.raises(NotSupported, match="calibrated to epsilon, got rho = 1"):
        PerRecord(columns=COLUMNS, loss=ZCDP(rho=1), users=9)
    with pytest.raises(ValueError, match="users must be an integer >= 1, got users=0"):
        PerRecord(columns=COLUMNS, loss=PureDP(epsilon=1), users=0)
