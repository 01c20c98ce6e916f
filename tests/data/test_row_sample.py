"""Every person keeps the rows with the smallest draws, by comparison with a sort of all rows; and no more memory."""

import itertools
from collections import Counter
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from tests.noise.conftest import Scripted

from dpress.attributes.value import read, written
from dpress.core.basics import rng
from dpress.core.basics.claim import ROW, Unit
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.persons import person_groups
from dpress.data.persons.contributions import contributions
from dpress.data.persons.person_groups import by_groups
from dpress.data.persons.person_index import HASHES, PersonIndex
from dpress.data.persons.row_sample import RowSample, _Smallest, row_sample

TYPES = {
    "texts": (pa.string(), ["a", "A", "a ", " a", "ä", "a\u0308", "", "7", "7.0", "x" * 99]),
    "floats": (pa.float64(), [7.0, -0.0, 0.0, 5e-324, 1e300, 2.0**53, float("inf"), 0.1]),
    "integers": (pa.int64(), [0, -1, 1, 2**63 - 1, -(2**63), 2**53, 2**53 + 1]),
    "unsigned": (pa.uint64(), [0, 2**63 - 1, 2**63, 2**64 - 1]),
    "decimals": (pa.decimal128(30, 2), [Decimal("7.00"), Decimal("7.01"), Decimal("-0.01"), Decimal(10) ** 20]),
}


def opener(uids, rows):
    """Return what opens a table of uids and row numbers in batches of at most so many rows."""
    table = pa.table({"x": np.arange(len(uids)), "uid": uids})
    return lambda: table.to_batches(max_chunksize=rows)


def sampled(batches, cap, *, generator=None, held=1 << 30):
    """Return the numbers of the rows that stay, in the order in which they come."""
    sample = row_sample(batches, Unit(column="uid", rows=cap), rng=generator or rng.seeded(1), held=held)
    kept = [one for batch in sample.of(batches()) for one in batch["x"].to_pylist()]
    assert sample.kept == len(kept)
    return kept


def smallest(names, draws, cap):
    """Return the rows that a sort of all rows by their draws, then places, leaves to every person."""
    own, kept = Counter(), []
    for row in sorted(range(len(names)), key=lambda row: (draws[row], row)):
        own[names[row]] += 1
        kept += [row] if own[names[row]] <= cap else []
    return sorted(kept)


def drawn_persons(kind, seed):
    """Return a column of persons, some with a row, some with hundreds, and their names by value."""
    arrow, values = TYPES[kind]
    shares = np.random.default_rng(seed).zipf(1.4, 600) % len(values)  # noqa: TID251  # made-up rows, no noise
    uids = pa.array([values[place] for place in shares], arrow)
    return uids, [written(read(one)) for one in uids.to_pylist()]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(("cap", "rows"), [(1, 600), (2, 7), (9, 100), (10**12, 64)])
def test_the_rows_with_the_smallest_draws_stay(kind, cap, rows):
    for seed in range(3):
        uids, names = drawn_persons(kind, seed)
        draws = rng.seeded(seed).words(len(names)).view(np.int64)
        kept = sampled(opener(uids, rows), cap, generator=rng.seeded(seed))
        assert kept == smallest(names, draws, cap)
        own = Counter(names[row] for row in kept)
        assert own == {name: min(cap, number) for name, number in Counter(names).items()}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("cap", [1, 20, 600])
def test_in_several_passes_every_person_keeps_as_many_rows(kind, cap):
    """Whatever the memory: down to one person at a time."""
    uids, names = drawn_persons(kind, 5)
    batches, opened = opener(uids, 50), []

    def counted():
        opened.append(1)
        return batches()

    for held in (60_000, 40_000, 1):
        opened.clear()
        own = Counter(names[row] for row in sampled(counted, cap, held=held))
        assert own == {name: min(cap, number) for name, number in Counter(names).items()}
        assert contributions(batches, ("uid",), (cap,), held=held) == contributions(batches, ("uid",), (cap,))
    assert len(opened) > len(set(names))


def test_a_pass_holds_no_more_than_its_share():
    """Half a million bytes hold less than half of these persons; the control has no bound, and holds them all."""
    uids = np.arange(40_000) % 8000
    batches, held = opener(uids, 1000), 500_000
    states = list(by_groups(batches, ("uid",), lambda: _Smallest(5, rng.seeded(1)), held=held))
    free = list(by_groups(batches, ("uid",), lambda: _Smallest(5, rng.seeded(1))))
    assert len(free) == 1
    assert free[0].nbytes > 2 * held
    assert len(states) > 2
    assert max(state.nbytes for state in states) <= held


def test_the_passes_cover_every_hash_once(monkeypatch):
    """Also those that no person of a test happens to have."""
    ranges = []

    def noted(*, key, low, high):
        ranges.append((low, high))
        return PersonIndex(key=key, low=low, high=high)

    monkeypatch.setattr(person_groups, "PersonIndex", noted)
    list(by_groups(opener(np.arange(3000), 500), ("uid",), lambda: _Smallest(2, rng.seeded(1)), held=70_000))
    covered = [one for place, one in enumerate(ranges) if place + 1 == len(ranges) or ranges[place + 1][0] == one[1]]
    assert len(ranges) > len(covered) > 2
    assert [low for low, _ in covered] == [0, *(high for _, high in covered[:-1])]
    assert covered[-1][1] == HASHES


def test_every_set_of_rows_has_as_many_orders_of_draws():
    """All 120 orders of five draws, among the rows of another person: each of the ten sets of two stays 12 times."""
    uids = [1, 2, 1, 1, 2, 1, 1]
    found = Counter()
    for order in itertools.permutations(range(5)):
        own = iter(order)
        words = [next(own) + 50 if uid == 1 else 7 * place for place, uid in enumerate(uids)]
        kept = sampled(opener(uids, 3), 2, generator=Scripted(words))
        found[tuple(row for row in kept if uids[row] == 1)] += 1
        assert [row for row in kept if uids[row] == 2] == [1, 4]
    assert set(found) == set(itertools.combinations([0, 2, 3, 5, 6], 2))
    assert set(found.values()) == {12}


@pytest.mark.parametrize("cap", [1, 2, 3, 12])
def test_of_equal_draws_the_earlier_rows_stay(cap):
    """Every table of draws of 0, 1 or 2 for six rows, and 20 rows of few draws, in heaps that grow."""
    for draws in itertools.product(range(3), repeat=6):
        kept = sampled(opener([4] * 6, 4), cap, generator=Scripted(draws))
        assert kept == smallest([4] * 6, draws, cap)
    for seed in range(20):
        draws = (rng.seeded(seed).words(20) % np.uint64(4)).tolist()
        assert sampled(opener([4] * 20, 6), cap, generator=Scripted(draws)) == smallest([4] * 20, draws, cap)


def test_one_draw_holds_for_every_reading_and_another_sample_is_another():
    uids, _ = drawn_persons("texts", 1)
    batches, unit, generator = opener(uids, 100), Unit(column="uid", rows=3), rng.seeded(1)
    sample = row_sample(batches, unit, rng=generator)
    first, again = (pa.Table.from_batches(sample.of(opener(uids, rows)())) for rows in (100, 33))
    assert first.equals(again)
    assert not np.array_equal(row_sample(batches, unit, rng=generator).bits, sample.bits)


@pytest.mark.parametrize("rows", [0, 9, 11, 16])
def test_a_table_of_another_length_is_refused(rows):
    sample = row_sample(opener([1, 2] * 5, 4), Unit(column="uid", rows=1), rng=rng.seeded(1))
    with pytest.raises(OSError, match="the table changed while it was read"):
        list(sample.of(opener([1] * rows, 4)()))


def test_a_table_that_changes_between_passes_is_refused():
    lengths = iter([300, 300, 300, 299, 298, 297, *range(296)])
    with pytest.raises(OSError, match="the table changed while it was read"):
        row_sample(
            lambda: list(opener(np.arange(next(lengths)) % 40, 50)()),
            Unit(column="uid", rows=3),
            rng=rng.seeded(1),
            held=1,
        )


def test_a_column_has_one_type():
    batches = [*opener([1], 1)(), *opener(["a"], 1)()]
    with pytest.raises(SchemaMismatch, match="the column 'uid' is of type int64 and then of type string"):
        row_sample(lambda: batches, Unit(column="uid", rows=1), rng=rng.seeded(1))


def test_a_unit_of_one_row_has_no_persons():
    with pytest.raises(ValueError, match="unit must name the column of the persons"):
        row_sample(opener([1], 1), ROW, rng=rng.seeded(1))


def test_no_rows_are_no_sample():
    assert row_sample(list, Unit(column="uid", rows=1), rng=rng.seeded(1)).rows == 0
    assert isinstance(row_sample(opener(pa.array([], pa.int64()), 1), Unit(column="uid"), rng=rng.seeded(1)), RowSample)


def test_contributions_are_those_of_a_count():
    for kind in TYPES:
        uids, names = drawn_persons(kind, 2)
        own = Counter(names)
        found = contributions(opener(uids, 70), ("uid",), (1, 3, 1000))
        assert (found.persons, found.rows, found.largest) == (len(own), len(names), max(own.values()))
        assert found.kept == {cap: sum(min(cap, one) for one in own.values()) for cap in (1, 3, 1000)}
