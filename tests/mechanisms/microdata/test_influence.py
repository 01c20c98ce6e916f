"""Weights by influence: the share of the distance between clusters that a category explains."""

from fractions import Fraction

import numpy as np
import pytest

from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.mixed import columns
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.methods.people import in_memory
from dpress.mechanisms.microdata.documents.dp_k_prototypes import DpKPrototypes
from dpress.mechanisms.microdata.documents.influence import explained, weighted
from dpress.mechanisms.microdata.prototypes import offsets

COLUMNS = columns(
    [
        Integer(name="age", bounds=(0, 10)),
        Categorical(name="work", values=("a", "b")),
        Categorical(name="noise", values=("c", "d", "e")),
    ],
    (3.0, 1.0, 1.0),
)
ROWS = 900
SIDES = np.repeat([0, 1], ROWS // 2)


def table() -> np.ndarray:
    """Two clusters that age and work tell apart; noise tells nothing."""
    noise = rng.seeded(3).words(ROWS) % np.uint64(3)
    return np.stack([SIDES * 10, SIDES, noise]).astype(np.int32)


def counts(codes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    found = np.zeros((labels.max() + 1, offsets(COLUMNS)[-1]), dtype=np.int64)
    np.add.at(found, (labels, codes + offsets(COLUMNS)[:-1, None]), 1)
    return found


def test_what_is_explained_is_what_one_cluster_costs_more_than_all_of_them():
    found = explained(COLUMNS, counts(table(), SIDES))
    assert found[0] == pytest.approx(ROWS / 4)  # ends of the scale, half a range from the mean
    assert found[1] == ROWS / 2
    assert 0 <= found[2] < ROWS / 20


def test_the_category_that_tells_clusters_apart_gets_the_weight_and_numbers_keep_theirs():
    own = weighted(COLUMNS, counts(table(), SIDES))
    assert own[0] is COLUMNS[0]
    assert own[1].weight + own[2].weight == pytest.approx(2)
    assert own[1].weight > 1.9
    swapped = table()[[0, 2, 1]] % 2  # the control: the other attribute tells them apart
    other = weighted(COLUMNS, counts(swapped.astype(np.int32), SIDES))
    assert other[1].weight < 0.2


def test_clusters_that_tell_nothing_change_no_weight():
    assert weighted(COLUMNS, counts(table(), np.zeros(ROWS, dtype=np.int64))) == COLUMNS


def test_the_published_method_clusters_by_them():
    """Twice the noise: with equal weights it decides on the clusters as much as work does, by influence less."""
    kinds = columns([Categorical(name=name, values=("a", "b")) for name in "xyz"])
    words = rng.seeded(5).words(ROWS)
    side = (words % np.uint64(2)).astype(np.int32)
    codes = np.stack([side, side, (words >> np.uint64(8) & np.uint64(1)).astype(np.int32)])
    made = {
        weights: DpKPrototypes(columns=kinds, loss=PureDP(epsilon=Fraction(1)), clusters=2, weights=weights)
        for weights in ("given", "influence")
    }
    groups = made["influence"].groups(in_memory(codes), codes, rng=rng.seeded(1))
    assert len({(int(one), int(group)) for one, group in zip(side, groups, strict=True)}) == 2
    with pytest.raises(ValueError, match="weights must be one of given, influence, got weights='most'"):
        DpKPrototypes(columns=kinds, loss=PureDP(epsilon=1), weights="most")
    with pytest.raises(ValueError, match="starts must be one of far apart, random, got starts='near'"):
        DpKPrototypes(columns=kinds, loss=PureDP(epsilon=1), starts="near")
