"""Lower bounds: against their definition on dense matrices, and below every strategy."""

import itertools
import math

import numpy as np
import pytest

from dpress.core.basics.claim import Relation
from dpress.core.maps.ranges import AllRanges, Prefixes, Range, RangeList, RangesOfLength
from dpress.core.maps.tree import Tree
from dpress.core.maps.workload import Boxes, Marginals
from dpress.inference import lower_bound as error
from dpress.inference.averages import cover_average, haar_average, tree_average
from dpress.mechanisms.linear.haar import Haar


def all_ranges(cells: int) -> np.ndarray:
    pairs = itertools.combinations(range(cells + 1), 2)
    return np.array([[left <= cell < right for cell in range(cells)] for left, right in pairs], dtype=float)


def dense_marginals(shape: tuple[int, ...], tables: tuple[tuple[int, ...], ...]) -> np.ndarray:
    places = list(np.ndindex(shape))
    return np.array(
        [
            [float(tuple(place[axis] for axis in table) == key) for place in places]
            for table in tables
            for key in itertools.product(*(range(shape[axis]) for axis in table))
        ]
    )


def bound_by_definition(queries: np.ndarray, relation: Relation) -> float:
    singular = np.linalg.svd(queries, compute_uv=False)
    count, cells = queries.shape
    if relation is Relation.ADD_REMOVE:
        return float(singular.sum() ** 2 / (cells * count))
    return float(2 * singular[1:].sum() ** 2 / (cells * count))


def test_lower_bound_of_ranges_is_its_definition() -> None:
    for case in itertools.product(list(Relation), [1, 2, 3, 8, 25]):
        relation, cells = case
        expected = bound_by_definition(all_ranges(cells), relation)
        bound = error.lower_bound(Boxes((AllRanges(cells),)), relation)
        assert math.isclose(bound, expected, rel_tol=1e-9, abs_tol=1e-12), case
        prefixes, bound = (
            bound_by_definition(np.tri(cells), relation),
            error.lower_bound(Boxes((Prefixes(cells),)), relation),
        )
        assert math.isclose(bound, prefixes, rel_tol=1e-9, abs_tol=1e-12), case


@pytest.mark.parametrize("relation", list(Relation))
def test_lower_bound_of_boxes_is_at_most_its_definition(relation: Relation) -> None:
    axes = (RangesOfLength(5, 3), Prefixes(3), RangeList(4, (Range(1, 2), Range(2, 4))))
    matrices = (np.tri(3, 5, 2) - np.tri(3, 5, -1), np.tri(3), np.array([[1, 1, 0, 0], [0, 1, 1, 1]]))
    dense = np.kron(np.kron(matrices[0], matrices[1]), matrices[2])
    expected, found = bound_by_definition(dense, relation), error.lower_bound(Boxes(axes), relation)
    assert found <= expected * (1 + 1e-12)
    assert found > 0.5 * expected
    if relation is Relation.ADD_REMOVE:
        assert math.isclose(found, expected, rel_tol=1e-9)


def test_no_strategy_beats_the_lower_bound() -> None:
    for case in itertools.product(list(Relation), [1, 2, 3, 5, 8, 16, 40, 100, 1024, 2**40 + 1, 2**60]):
        relation, cells = case
        bound = error.lower_bound(Boxes((AllRanges(cells),)), relation)
        tree, haar, cell = Tree(cells), Haar(cells), Tree(cells, max(2, cells), root=False)
        means = [(tree, tree_average(tree)), (tree, cover_average(tree)), (haar, haar_average(cells))]
        for strategy, mean in [*means, (cell, (cells + 2) / 3)]:
            for order in (1, 2):
                sensitivity = strategy.sensitivity(order, relation) ** (2 if order == 1 else 1)
                assert mean * sensitivity >= bound * (1 - 1e-12), case


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize(
    "tables", [((0,),), ((0, 1), (1, 2)), ((0, 1), (1, 2), (0, 2)), ((0, 1, 2),), ((), (0,), (2, 1))]
)
def test_lower_bound_of_marginals_is_its_definition_and_holds(
    relation: Relation, tables: tuple[tuple[int, ...], ...]
) -> None:
    shape = (2, 3, 4)
    dense = dense_marginals(shape, tables)
    bound = error.lower_bound(Marginals(shape, tables), relation)
    assert math.isclose(bound, bound_by_definition(dense, relation), rel_tol=1e-9)
    variances = np.diag(dense @ np.linalg.pinv(dense.T @ dense) @ dense.T)
    moved = [np.sum((dense[:, i] - dense[:, j]) ** 2) for i, j in itertools.combinations(range(24), 2)]
    squared = len(tables) if relation is Relation.ADD_REMOVE else max(moved)
    assert variances.mean() * squared >= bound * (1 - 1e-12)


def test_a_spectral_norm_above_the_trace_norm_leaves_nothing() -> None:
    """Under replace-one a workload of one range has no bound but 0."""
    assert error.lower_bound(Boxes((RangeList(9, (Range(2, 5),)),)), Relation.REPLACE_ONE) == pytest.approx(
        0.0, abs=1e-12
    )


def test_the_bound_of_the_document() -> None:
    assert round(error.lower_bound(Boxes((AllRanges(1024),)), Relation.ADD_REMOVE), 3) == 12.196
    assert error.average_over_ranges(30.0, 5) == 2.0


@pytest.mark.parametrize("relation", list(Relation))
def test_many_attributes_do_not_lose_the_bound(relation: Relation) -> None:
    """Of 365 attributes the norms are beyond any float, and the bound is the product of the attributes' own."""
    alone = error.lower_bound(Boxes((AllRanges(4),)), Relation.ADD_REMOVE)
    many = error.lower_bound(Boxes((AllRanges(4),) * 365), relation)
    assert math.log(many) == pytest.approx(
        365 * math.log(alone) + math.log(1 if relation is Relation.ADD_REMOVE else 2)
    )
    assert error.lower_bound(Boxes((AllRanges(2**53),) * 300), relation) == math.inf
    table = error.lower_bound(Marginals((10,) * 365, (tuple(range(365)),)), relation)  # every cell of one table
    assert table == pytest.approx(1 if relation is Relation.ADD_REMOVE else 2)
