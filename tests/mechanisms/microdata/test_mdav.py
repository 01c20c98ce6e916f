"""`mdav`: the groups against a direct program, their sizes, and what it is refused for."""

import numpy as np
import pytest

from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.mixed import columns
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics import rng
from dpress.core.basics.claim import ROW, Unit
from dpress.core.basics.compiled import compiled
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.methods.people import in_memory
from dpress.mechanisms.microdata.documents.mdav import CARD, Mdav, grouped, sum_costs

NUMBERS = columns([Integer(name="a", bounds=(0, 999)), Integer(name="b", bounds=(0, 999))])
MIXED = columns([Integer(name="a", bounds=(0, 99)), Categorical(name="b", values=("x", "y", "z"))])
EPSILON = PureDP(epsilon=1)


def points(rows: int, largest: int = 1000, seed: int = 1) -> np.ndarray:
    return (rng.seeded(seed).words(2 * rows).reshape(2, rows) % np.uint64(largest)).astype(np.int32)


def direct(codes: np.ndarray, size: int) -> set[frozenset[int]]:
    """MDAV as its paper has it, over numbers, by sorting all distances."""
    left, found = list(range(codes.shape[1])), set()

    def far(centre: np.ndarray) -> np.ndarray:
        return ((codes[:, left] - centre[:, None]) ** 2).sum(axis=0)

    def close(centre: np.ndarray) -> None:
        group = [left[place] for place in np.argsort(far(centre))[:size]]
        found.add(frozenset(group))
        left[:] = [row for row in left if row not in group]

    while len(left) >= 3 * size:
        first = codes[:, left[far(codes[:, left].mean(axis=1)).argmax()]]
        second = codes[:, left[far(first).argmax()]]
        close(first)
        close(second)
    if len(left) >= 2 * size:
        close(codes[:, left[far(codes[:, left].mean(axis=1)).argmax()]])
    return found | {frozenset(left)}


@pytest.mark.parametrize(("rows", "size"), [(30, 3), (31, 3), (35, 3), (50, 7), (20, 9), (27, 9), (5, 5), (9, 5)])
def test_the_groups_are_those_of_the_paper(rows, size):
    labels = grouped(NUMBERS, points(rows), size)
    found = {frozenset(np.flatnonzero(labels == group).tolist()) for group in range(labels.max() + 1)}
    assert found == direct(points(rows).astype(np.int64), size)


@pytest.mark.parametrize("size", [2, 3, 10, 50])
def test_every_group_has_k_to_2k_less_1_records_and_mixed_ones_too(size):
    codes = np.stack([points(200, 100)[0], points(200, 3)[1]])
    sizes = np.bincount(grouped(MIXED, codes, size))
    assert sizes.sum() == 200
    assert (sizes[:-1] == size).all()
    assert size <= sizes[-1] < 2 * size


def test_the_compiled_sum_does_what_its_python_says():
    cells, costs = points(50, 30).T.astype(np.int64), rng.seeded(5).words(30) * 2.0**-64
    results = np.empty((2, 50))
    sum_costs(cells, costs, results[0])
    compiled(sum_costs)(cells, costs, results[1])
    np.testing.assert_array_equal(results[0], results[1])


def test_a_release_is_one_record_a_row_near_its_group():
    codes = np.repeat(np.array([[5, 50, 90], [0, 1, 2]], dtype=np.int32), 40, axis=1)
    out = Mdav(columns=MIXED, loss=PureDP(epsilon=100), group=10).release(in_memory(codes), rng=rng.seeded(1))
    assert out.aligned
    assert out.measurement is None
    np.testing.assert_array_equal(out.codes, codes)


def test_what_it_does_not_serve():
    claim = Mdav(columns=MIXED, loss=EPSILON).claim
    assert (claim.published, claim.proven) == (EPSILON, None)
    assert CARD.synthesizer(MIXED, EPSILON, ROW, group=4).group == 4
    with pytest.raises(NotSupported, match="calibrated to epsilon, got rho = 1"):
        CARD.synthesizer(MIXED, ZCDP(rho=1), ROW)
    with pytest.raises(NotSupported, match="published for one row a person, got"):
        CARD.synthesizer(MIXED, EPSILON, Unit(column="uid", rows=2))
    with pytest.raises(ValueError, match="group must be an integer >= 2, got group=1"):
        Mdav(columns=MIXED, loss=EPSILON, group=1)
    with pytest.raises(ValueError, match="group must be at most the number of rows, got group=6"):
        grouped(NUMBERS, points(5), 6)
    with pytest.raises(NotSupported, match="calibrated to epsilon"):
        Mdav(columns=MIXED, loss=ZCDP(rho=1))
