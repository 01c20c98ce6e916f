"""Average coefficients and lower bounds: closed O(n) passes against brute force over every range."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from dpress.core.claim import Relation
from dpress.core.haar import Haar
from dpress.core.linear import LinearMap
from dpress.core.tree import Tree
from dpress.core.workload import AllRanges, Marginals, Range
from dpress.estimate import error
from dpress.mechanisms.linear.binary_tree import BinaryTree
from dpress.mechanisms.linear.boost import Boost
from dpress.mechanisms.linear.identity import Identity
from dpress.mechanisms.linear.marginals import Marginals as MarginalStrategy
from dpress.mechanisms.linear.privelet import Privelet

Dense = Callable[[LinearMap], np.ndarray]
SIZES = [*range(1, 41), 64, 100, 127]
LARGE = 200


def ranges(cells: int) -> np.ndarray:
    pairs = itertools.combinations(range(cells + 1), 2)
    return np.array([[left <= cell < right for cell in range(cells)] for left, right in pairs], dtype=float)


def mean_over_ranges(covariance: np.ndarray) -> float:
    """The definition: every range's w Cov w^T, averaged."""
    queries = ranges(len(covariance))
    return float(np.einsum("ij,ij->i", queries @ covariance, queries).mean())


@pytest.mark.parametrize("cells", [*SIZES, LARGE])
def test_haar_average_is_the_mean_over_all_ranges(dense: Dense, cells: int) -> None:
    back = np.linalg.inv(dense(Haar(Haar(cells).rows)))[:cells]
    expected = mean_over_ranges(back @ back.T)
    assert math.isclose(error.haar_average(Haar(cells)), expected, rel_tol=1e-10)
    assert math.isclose(Privelet(cells).average_coefficient(), expected, rel_tol=1e-10)


@pytest.mark.parametrize(("cells", "branching"), [*itertools.product(SIZES, (2, 3, 5)), (LARGE, 2)])
def test_tree_average_is_the_mean_over_all_ranges(dense: Dense, cells: int, branching: int) -> None:
    matrix = dense(Tree(cells, branching))
    expected = mean_over_ranges(np.linalg.inv(matrix.T @ matrix))
    assert math.isclose(error.tree_average(Tree(cells, branching)), expected, rel_tol=1e-10)
    if branching == 2:
        assert math.isclose(Boost(cells).average_coefficient(), expected, rel_tol=1e-10)


def smallest_cover(left: int, right: int, start: int, width: int, cells: int) -> int:
    """The recursion on the tree: a node inside the range counts one, a node that it cuts hands down."""
    end = min(start + width, cells)
    if start >= cells or right <= start or end <= left:
        return 0
    if left <= start and end <= right:
        return 1
    half = width // 2
    return smallest_cover(left, right, start, half, cells) + smallest_cover(left, right, start + half, half, cells)


@pytest.mark.parametrize("cells", [*SIZES, LARGE])
def test_binary_tree_average_is_the_mean_size_of_the_canonical_cover(cells: int) -> None:
    width = 1 << (cells - 1).bit_length()
    pairs = list(itertools.combinations(range(cells + 1), 2))
    sizes = [smallest_cover(left, right, 0, width, cells) for left, right in pairs]
    assert math.isclose(BinaryTree(cells).average_coefficient(), math.fsum(sizes) / len(pairs), rel_tol=1e-10)
    for (left, right), size in list(zip(pairs, sizes, strict=True))[:: 1 + len(pairs) // 50]:
        weights = Range(left + 1, right).weights(cells)
        assert BinaryTree(cells).decoder.query_variance(1.0, [weights]) == size


@pytest.mark.parametrize("cells", SIZES)
def test_identity_average_is_the_mean_length(cells: int) -> None:
    assert math.isclose(Identity((cells,)).average_coefficient(), mean_over_ranges(np.eye(cells)), rel_tol=1e-10)


def test_an_average_of_the_next_size_is_rejected(dense: Dense) -> None:
    """The control: the comparison tells neighbouring sizes apart."""
    matrix = dense(Tree(40))
    expected = mean_over_ranges(np.linalg.inv(matrix.T @ matrix))
    assert not math.isclose(error.tree_average(Tree(41)), expected, rel_tol=1e-10)
    assert not math.isclose(error.tree_average(Tree(40, 3)), expected, rel_tol=1e-10)


def test_energy_of_blocks_equals_brute_force() -> None:
    values = np.array([1.0, -2.0, 0.5, 3.0, -1.0, 4.0, 0.0])
    for starts in ([0], [0, 3], [0, 1, 2, 3, 4, 5, 6], [0, 6]):
        blocks = np.split(np.arange(7), starts[1:])
        queries = ranges(7)
        expected = sum(float(((queries[:, block] @ values[block]) ** 2).sum()) for block in blocks)
        assert math.isclose(error.all_ranges_energy(values, np.array(starts)), expected, rel_tol=1e-12)


def bound_by_definition(queries: np.ndarray, relation: Relation) -> float:
    singular = np.linalg.svd(queries, compute_uv=False)
    count, cells = queries.shape
    if relation is Relation.ADD_REMOVE:
        return float(singular.sum() ** 2 / (cells * count))
    return float(2 * singular[1:].sum() ** 2 / (cells * count))


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("cells", [1, 2, 3, 8, 25])
def test_lower_bound_of_ranges_is_its_definition(relation: Relation, cells: int) -> None:
    expected = bound_by_definition(ranges(cells), relation)
    assert math.isclose(error.lower_bound(AllRanges(cells), relation), expected, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("cells", [1, 2, 3, 5, 8, 16, 40, 100, 1024])
def test_no_strategy_beats_the_lower_bound(relation: Relation, cells: int) -> None:
    bound = error.lower_bound(AllRanges(cells), relation)
    for strategy in (Identity((cells,)), BinaryTree(cells), Boost(cells), Privelet(cells)):
        for order in (1, 2):
            sensitivity = strategy.map.sensitivity(order, relation) ** (2 if order == 1 else 1)
            assert strategy.average_coefficient() * sensitivity >= bound * (1 - 1e-12)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize(
    "tables", [((0,),), ((0, 1), (1, 2)), ((0, 1), (1, 2), (0, 2)), ((0, 1, 2),), ((), (0,), (2, 1))]
)
def test_lower_bound_of_marginals_is_its_definition_and_holds(
    dense: Dense, relation: Relation, tables: tuple[tuple[int, ...], ...]
) -> None:
    shape = (2, 3, 4)
    strategy = MarginalStrategy(shape, tables)
    bound = error.lower_bound(Marginals(shape, tables), relation)
    assert math.isclose(bound, bound_by_definition(dense(strategy.map).astype(float), relation), rel_tol=1e-9)
    variances = np.concatenate(strategy.decoder.cell_variances(1.0))
    assert variances.mean() * strategy.map.sensitivity(2, relation) >= bound * (1 - 1e-12)
