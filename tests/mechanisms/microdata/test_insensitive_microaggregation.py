"""`insensitive_microaggregation`: its sensitivities and its exact loss over all neighbours of tiny tables."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from tests.noise.noisy_max import report_noisy_max_probabilities

from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.mixed import columns
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics import rng
from dpress.core.basics.claim import ROW, Relation, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.methods.people import in_memory
from dpress.mechanisms.microdata.documents.insensitive_microaggregation import CARD, InsensitiveMicroaggregation, order

COLUMNS = columns([Integer(name="age", bounds=(0, 3)), Categorical(name="work", values=("a", "b"))], (0.1, 1.0))
CELLS = np.array(list(itertools.product(range(4), range(2))), dtype=np.int32)
EPSILON = PureDP(epsilon=1)
SIZES = [(4, 2), (5, 2), pytest.param(6, 2, marks=pytest.mark.slow)]


def method_of(users: int, group: int, unit: Unit = ROW) -> InsensitiveMicroaggregation:
    return InsensitiveMicroaggregation(columns=COLUMNS, loss=EPSILON, users=users, group=group, unit=unit)


def all_tables(method: InsensitiveMicroaggregation) -> dict[tuple[int, ...], list[np.ndarray]]:
    """The histograms of all groups, of both attributes, for every multiset of records."""
    found = {}
    for rows in itertools.combinations_with_replacement(range(len(CELLS)), method.users):
        codes = CELLS[list(rows)].T
        codes = codes[:, order(COLUMNS, codes)]
        found[rows] = [method.histograms(column, own) for column, own in zip(COLUMNS, codes, strict=True)]
    return found


def neighbours(tables: dict[tuple[int, ...], list[np.ndarray]]):
    for rows, parts in tables.items():
        for place, new in itertools.product(range(len(rows)), range(len(CELLS))):
            other = tuple(sorted((*rows[:place], *rows[place + 1 :], new)))
            if other > rows:
                yield parts, tables[other]


@pytest.mark.parametrize(("users", "group"), SIZES)
def test_one_replaced_record_replaces_at_most_one_in_every_group(users, group):
    method, largest, together = method_of(users, group), 0, 0
    for one, other in neighbours(all_tables(method)):
        for before, after in zip(one, other, strict=True):
            assert np.abs(before - after).sum(axis=1).max() <= 2
            together = max(together, int(np.abs(before - after).sum()))
        largest = max(largest, int(np.abs((one[0] - other[0]) @ COLUMNS[0].units).sum()))
    assert together == 2 * method.groups
    assert 2 * COLUMNS[0].span < largest <= method.groups * 2 * COLUMNS[0].span


@pytest.mark.parametrize(("users", "group"), SIZES)
def test_the_exact_loss_of_all_neighbours_is_within_epsilon(users, group):
    method = method_of(users, group)
    scale = method.groups * 2 * COLUMNS[0].span / method.share
    worst, modes = Fraction(0), {}

    def log_modes(counts: np.ndarray) -> np.ndarray:
        key = tuple(counts.tolist())
        if key not in modes:
            epsilon = method.share / method.groups
            modes[key] = np.log(report_noisy_max_probabilities(counts, epsilon=epsilon, sensitivity=1))
        return modes[key]

    for one, other in neighbours(all_tables(method)):
        numbers = int(np.abs((one[0] - other[0]) @ COLUMNS[0].units).sum()) / scale
        pairs = zip(one[1], other[1], strict=True)
        worst = max(worst, numbers + sum(np.abs(log_modes(a) - log_modes(b)).max() for a, b in pairs))
    assert 0.4 < worst <= 1 + 1e-9


def test_groups_along_the_nearest_neighbours_would_not_do():
    """The control: groups around the records themselves, as MDAV has them, change by more than one record."""
    codes = np.array([[0, 1, 4, 5, 8, 9]])
    moved = np.array([[0, 1, 4, 5, 8, 2]])

    def groups(own: np.ndarray) -> list[set[int]]:  # of two around the two farthest from the mean, as MDAV has them
        left, found = sorted(own[0].tolist()), []
        while left:
            far = max(left, key=lambda age: abs(age - sum(left) / len(left)))
            pair = sorted(left, key=lambda age: abs(age - far))[:2]
            found.append(set(pair))
            left = [age for age in left if age not in pair]
        return found

    changed = [len(a - b) for a, b in zip(groups(codes), groups(moved), strict=True)]
    assert max(changed) == 2


def test_the_order_is_one_of_records_whatever_their_places():
    codes = CELLS[[3, 1, 1, 7, 0, 5, 2]].T
    words = rng.seeded(1).words(7).argsort()
    np.testing.assert_array_equal(codes[:, order(COLUMNS, codes)], codes[:, words][:, order(COLUMNS, codes[:, words])])
    distance = 0.1 * (COLUMNS[0].scaled[CELLS[:, 0]] + 0.5) ** 2 + (CELLS[:, 1] == 1)
    assert (np.diff(distance[order(COLUMNS, CELLS.T)]) >= 0).all()


def test_with_much_budget_the_release_is_the_groups_means_and_modes():
    codes = np.array([[0, 0, 1, 1, 2, 3, 3], [0, 0, 0, 0, 1, 1, 1]], dtype=np.int32)
    rich = InsensitiveMicroaggregation(columns=COLUMNS, loss=PureDP(epsilon=1000), users=7, group=2)
    centres = [[0, 0, 1, 1, 3, 3, 3], [0, 0, 0, 0, 1, 1, 1]]
    assert rich.aggregated(codes, rng=rng.seeded(1)).tolist() == centres
    out = rich.release(in_memory(codes), rng=rng.seeded(1))
    assert not out.aligned
    assert out.codes.tolist() != centres
    assert sorted(out.codes.T.tolist()) == sorted(np.transpose(centres).tolist())
    assert rich.sizes.tolist() == [2, 2, 3]


@pytest.mark.parametrize("rows", [0, 3, 10, 25])
def test_the_number_of_records_is_the_public_one_whatever_the_table(rows):
    codes = np.ones((2, rows), dtype=np.int32)
    assert method_of(10, 4).release(in_memory(codes), rng=rng.seeded(1)).codes.shape == (2, 10)


def test_the_share_is_divided_among_attributes_and_rows_of_a_unit():
    person = Unit(column="uid", rows=3)
    assert (method_of(4, 2).share, method_of(4, 2, person).share) == (Fraction(1, 2), Fraction(1, 6))
    single = columns([Integer(name="x", bounds=(3, 3)), Categorical(name="y", values=("only",))])
    alone = InsensitiveMicroaggregation(columns=single, loss=EPSILON, users=4, group=2)
    assert alone.share == 1
    assert not alone.release(in_memory(np.zeros((2, 4), dtype=np.int32)), rng=rng.seeded(1)).codes.any()


def test_what_it_does_not_serve():
    unit = Unit(relation=Relation.REPLACE_ONE)
    made = CARD.synthesizer(COLUMNS, EPSILON, unit, users=9, group=3)
    assert (made.groups, made.claim.unit, made.claim.proven) == (3, unit, EPSILON)
    with pytest.raises(NotSupported, match="calibrated to epsilon, got rho = 1"):
        CARD.synthesizer(COLUMNS, ZCDP(rho=1), ROW, users=9, group=3)
    with pytest.raises(NotSupported, match="calibrated to epsilon"):
        InsensitiveMicroaggregation(columns=COLUMNS, loss=ZCDP(rho=1), users=9, group=3)
    with pytest.raises(ValueError, match="group must be at most users, got group=10, users=9"):
        method_of(9, 10)
    with pytest.raises(ValueError, match="group must be an integer >= 2, got group=1"):
        method_of(9, 1)
