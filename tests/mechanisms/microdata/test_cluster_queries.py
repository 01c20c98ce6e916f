"""What is measured in clusters: the map equals brute force over records, and so does its sensitivity."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.mixed import columns
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics import rng
from dpress.core.basics.claim import Relation
from dpress.core.methods.people import in_memory
from dpress.mechanisms.microdata.cluster_queries import (
    InClusters,
    Round,
    binned,
    by_size,
    centres,
    everybody,
    histograms,
    one_way,
)
from dpress.mechanisms.microdata.noisy_prototypes import placed

COLUMNS = columns(
    (
        Integer(name="age", bounds=(3, 6)),
        Integer(name="one", bounds=(5, 5)),
        Categorical(name="c", values=("a", "b", "c")),
    )
)
SHAPE = (4, 1, 3)
TWO = placed(COLUMNS, [np.array([-0.5, 0.5]), np.zeros(2), np.array([0.0, 1.0])])
EVERY = np.array(np.unravel_index(np.arange(12), SHAPE), dtype=np.int32)
ROUNDS = [one_way(COLUMNS), centres(TWO), histograms(TWO, (2, 1, 3))]


def brute(part: InClusters, codes: np.ndarray) -> np.ndarray:
    """The answers, record by record."""
    answers = np.zeros((part.clusters.size, part.contributions.shape[1]), dtype=np.int64)
    for record in codes.T:
        label = part.clusters.labels(record[:, None].astype(np.int32))[0]
        answers[label] += part.contributions[record[part.axis]]
    return answers.ravel()


@pytest.mark.parametrize("what", ROUNDS, ids=["one way", "centres", "histograms"])
def test_a_fold_over_records_the_full_table_and_brute_force_agree(what: Round) -> None:
    codes = (rng.seeded(1).words(3 * 50).reshape(3, 50) % np.array(SHAPE, dtype=np.uint64)[:, None]).astype(np.int32)
    expected = np.concatenate([brute(part, codes) for part in what.parts])
    table = np.bincount(np.ravel_multi_index(tuple(codes), SHAPE), minlength=12)
    assert np.array_equal(what.exact(in_memory(codes, batch=7)), expected)
    assert np.array_equal(what.map.apply(table), expected)
    assert np.abs(expected).sum() > 0


@pytest.mark.parametrize("what", ROUNDS, ids=["one way", "centres", "histograms"])
def test_the_transpose_is_the_transpose(what: Round) -> None:
    dense = np.stack([what.map.apply(cell) for cell in np.eye(12, dtype=np.int64)], axis=1)
    answers = np.arange(what.map.rows, dtype=np.float64) ** 2
    assert np.allclose(what.map.transpose(answers), dense.T @ answers)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("what", ROUNDS, ids=["one way", "centres", "histograms"])
def test_the_sensitivity_bounds_every_change_and_is_reached_where_the_table_has_two_values(
    what: Round, order: int
) -> None:
    for part in what.parts:
        alone = [brute(part, EVERY[:, [i]]) for i in range(12)]
        added = max(int((np.abs(one) ** order).sum()) for one in alone)
        moved = max(int((np.abs(one - two) ** order).sum()) for one, two in itertools.combinations(alone, 2))
        assert added <= part.sensitivity(order, Relation.ADD_REMOVE) == max(added, 1)
        assert moved <= part.sensitivity(order, Relation.REPLACE_ONE)
        if part.contributions.shape[1] > 1:
            assert moved == part.sensitivity(order, Relation.REPLACE_ONE) == 2


def test_a_number_can_move_from_end_to_end_within_one_cluster() -> None:
    whole = InClusters(clusters=everybody(COLUMNS), axis=0, contributions=COLUMNS[0].units[:, None])
    assert COLUMNS[0].units.tolist() == [-3, -1, 1, 3]
    assert [whole.sensitivity(order, Relation.ADD_REMOVE) for order in (1, 2)] == [3, 9]
    assert [whole.sensitivity(order, Relation.REPLACE_ONE) for order in (1, 2)] == [6, 36]


def test_shares_add_up_and_follow_the_root_of_the_size() -> None:
    assert by_size([1, 9, 36]) == (Fraction(1, 10), Fraction(3, 10), Fraction(6, 10))
    for what in ROUNDS:
        assert sum(what.shares) == 1
        assert len(what.shares) == len(what.parts)


def test_bins_are_in_order_and_about_even() -> None:
    assert binned(7, 3).tolist() == [0, 0, 0, 1, 1, 2, 2]
    assert np.bincount(binned(99, 16)).tolist().count(6) == 13
    assert binned(4, 4).tolist() == [0, 1, 2, 3]
