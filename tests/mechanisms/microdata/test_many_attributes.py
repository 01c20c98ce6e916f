"""`graphical` of many attributes: all pairs at once, with groups, refusals and noise that go by how many there are."""

import numpy as np
import pytest
from tests.mechanisms.microdata.test_graphical import COLUMNS, category

from dpress.core.basics import rng
from dpress.core.basics.claim import ROW
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.linear import Array, Stack
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.people import Codes, in_memory
from dpress.inference.normal import normal
from dpress.mechanisms.microdata.graphical import graphical
from dpress.mechanisms.microdata.grouped_tables import GroupedTable, one_way_parts, variances
from dpress.mechanisms.microdata.one_way_tables import one_way_tables


def test_of_many_attributes_each_has_fewer_groups_and_the_loss_is_enough_for_all_pairs() -> None:
    wide = [category(f"a{place}", 2) for place in range(800)]
    method = graphical(wide, ZCDP(rho="0.03"), ROW)
    assert method is not None
    assert method.rounds == 319_600
    assert graphical(wide, ZCDP(rho="0.003"), ROW) is None
    columns = [category(f"a{place}", 90) for place in range(200)]
    answers = np.tile(np.arange(90) * 1000.0, 200)
    measured = Measurement(map=Stack(tuple(one_way_parts((90,) * 200))), answers=answers, variance=4.0)
    groups = one_way_tables(columns, measured, 100.0).groups
    assert {int(places.max()) for places in groups} == {4096 // 200}


def test_tables_without_the_tables_have_the_noise_that_measures_them() -> None:
    method = graphical(COLUMNS, ZCDP(rho=1), ROW)
    assert method is not None
    parts = [
        GroupedTable(shape=method.shape, axes=pair, groups=tuple(np.arange(method.shape[axis]) for axis in pair))
        for pair in method.pairs
    ]
    sizes = np.array([part.rows for part in parts])
    noises = [noise.variance for noise in method.measuring(parts, method.tables).noises]
    assert variances(sizes, method.tables, ROW).tolist() == noises
    assert len(set(noises)) > 2


def people(attributes: int, rows: int) -> Codes:
    """Return binary attributes that three hidden traits decide in part."""
    source = rng.seeded(2)
    traits = normal(3 * rows, rng=source).reshape(3, rows)
    loadings = normal(3 * attributes, rng=source).reshape(attributes, 3)
    return (loadings @ traits + normal(attributes * rows, rng=source).reshape(attributes, rows) > 0).astype(np.int32)


def both_one(codes: Codes) -> Array:
    """Return of all pairs the share of records that have 1 twice."""
    ones = codes.astype(float)
    return np.asarray((ones @ ones.T)[np.triu_indices(len(codes), 1)] / codes.shape[1])


@pytest.mark.slow
def test_what_many_attributes_have_to_do_with_each_other_comes_back() -> None:
    """Of 2,145 pairs, of which 2,000 are weighted to; independent attributes are found out."""
    codes = people(66, 4_000)
    method = graphical([category(f"a{place}", 2) for place in range(66)], ZCDP(rho="0.05"), ROW)
    assert method is not None
    made = method.release(in_memory(codes), rng=rng.seeded(1)).codes
    shuffled = np.stack([row[np.argsort(rng.seeded(place).words(row.size))] for place, row in enumerate(codes)])
    off, independent = (float(np.abs(both_one(other) - both_one(codes)).mean()) for other in (made, shuffled))
    assert off < 0.01
    assert independent > 0.03
