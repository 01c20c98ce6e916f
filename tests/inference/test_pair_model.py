"""The pairs that records are weighted to: those in whose tables the classes are farthest off."""

import itertools

import numpy as np

from dpress.inference.records.latent_classes import LatentClasses
from dpress.inference.records.pair_model import PairModel


def test_the_farthest_pairs_come_in_order_and_all_where_there_is_room() -> None:
    even = LatentClasses(sizes=(2, 2, 2, 2), weights=np.ones(1), cells=np.full((1, 8), 0.5))
    tables = even.tables.copy()
    for (first, second), off in {(1, 3): 0.2, (0, 2): 0.1}.items():
        block = np.ix_([2 * first, 2 * first + 1], [2 * second, 2 * second + 1])
        tables[block] += off * np.array([[1, -1], [-1, 1]])
    model = PairModel(classes=even, tables=tables)
    assert model.farthest(1) == [(1, 3)]
    assert model.farthest(2) == [(0, 2), (1, 3)]
    assert model.farthest(9) == list(itertools.combinations(range(4), 2))
