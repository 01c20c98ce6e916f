"""As many records as is public: neighbours differ in as many records as a unit has rows, whatever their numbers."""

from collections import Counter

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.mechanisms.microdata.documents.fixed_number import exactly


def multiset(codes: np.ndarray, users: int) -> Counter[tuple[int, ...]]:
    return Counter(map(tuple, exactly(codes, users, rng=rng.seeded(3)).T.tolist()))


@pytest.mark.parametrize("users", [1, 5, 9, 10, 11, 30])
def test_one_row_more_or_another_row_replaces_one_record(users):
    codes = np.arange(1, 21, dtype=np.int32).reshape(2, 10)
    before = multiset(codes, users)
    assert before.total() == users
    replaced = codes.copy()
    replaced[:, 4] = 99
    added = np.concatenate([codes, [[99], [99]]], axis=1)
    for neighbour in (replaced, added, codes[:, :-1]):
        assert (before - multiset(neighbour, users)).total() <= 1


def test_missing_records_are_those_of_the_first_cells_and_too_many_are_a_random_subset():
    codes = np.arange(1, 11, dtype=np.int32)[None, :]
    assert multiset(codes, 12)[0,] == 2
    assert multiset(codes, 10) == Counter((i,) for i in range(1, 11))
    kept = {tuple(sorted(exactly(codes, 3, rng=rng.seeded(seed))[0].tolist())) for seed in range(20)}
    assert len(kept) > 10


def test_the_order_says_nothing_of_the_table():
    codes = np.arange(50, dtype=np.int32)[None, :]
    orders = [exactly(codes, 50, rng=rng.seeded(seed))[0].tolist() for seed in range(3)]
    assert orders[0] != orders[1] != list(range(50))
    assert sorted(orders[2]) == list(range(50))
