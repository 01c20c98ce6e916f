"""Linear maps: implicit = dense = brute force, for every operation, size and neighbour relation."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpress.core.basics import rng
from dpress.core.basics.claim import Relation
from dpress.core.maps.linear import Identity, Invertible, LinearMap, Marginal, Stack
from dpress.core.maps.tree import Tree
from dpress.mechanisms.linear.haar import Haar
from dpress.mechanisms.linear.prefix_map import Prefix

Pair = tuple[LinearMap, np.ndarray]
CLOSE = {"rtol": 1e-9, "atol": 1e-9}
RELATIONS = list(Relation)


def tree_matrix(cells: int, branching: int) -> np.ndarray:
    """Every node by its definition: `branching`^k neighbouring cells, the widest nodes first."""
    width = 1
    while width < cells:
        width *= branching
    rows = []
    while width:
        starts = range(0, cells, width)
        rows += [[int(start <= cell < start + width) for cell in range(cells)] for start in starts]
        width = width // branching if width > 1 else 0
    return np.array(rows)


def padded_haar(cells: int) -> np.ndarray:
    """The total, then left minus right of every node, over the next power of two."""
    full = 1
    while full < cells:
        full *= 2
    rows = [np.ones(full, dtype=np.int64)]
    size = full
    while size > 1:
        for start in range(0, full, size):
            row = np.zeros(full, dtype=np.int64)
            row[start : start + size // 2], row[start + size // 2 : start + size] = 1, -1
            rows.append(row)
        size //= 2
    return np.array(rows)


def marginal_matrix(shape: tuple[int, ...], axes: tuple[int, ...]) -> np.ndarray:
    cells = list(itertools.product(*map(range, shape)))
    kept = list(itertools.product(*(range(shape[axis]) for axis in axes)))
    return np.array([[int(tuple(cell[axis] for axis in axes) == key) for cell in cells] for key in kept])


def brute_sensitivity(matrix: np.ndarray, order: int, relation: Relation) -> int:
    """The largest change over all columns (a row comes or goes), or over all pairs of columns (a row moves)."""
    if relation is Relation.ADD_REMOVE:
        return int((np.abs(matrix) ** order).sum(axis=0).max())
    return max(int((np.abs(matrix[:, [i]] - matrix) ** order).sum(axis=0).max()) for i in range(matrix.shape[1]))


@st.composite
def marginals(draw: st.DrawFn, shape: tuple[int, ...] | None = None) -> Pair:
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple)) if shape is None else shape
    order = draw(st.permutations(range(len(shape))))
    axes = tuple(order[: draw(st.integers(0, len(shape)))])
    return Marginal(shape, axes), marginal_matrix(shape, axes)


@st.composite
def stacks(draw: st.DrawFn) -> Pair:
    shape = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple))
    pairs = draw(st.lists(marginals(shape), min_size=1, max_size=4))
    return Stack(tuple(pair[0] for pair in pairs)), np.vstack([pair[1] for pair in pairs])


identities = st.integers(1, 40).map(lambda n: (Identity(n), np.eye(n, dtype=np.int64)))
trees = st.tuples(st.integers(1, 70), st.sampled_from([2, 3, 5])).map(lambda nb: (Tree(*nb), tree_matrix(*nb)))
haars = st.integers(1, 70).map(lambda n: (Haar(n), padded_haar(n)[:, :n]))
maps = st.one_of(identities, trees, haars, marginals(), stacks())


def vector(size: int, seed: int) -> np.ndarray:
    return rng.seeded(seed).words(size) / 2.0**63 - 1


def spreads(size: int, seed: int) -> np.ndarray:
    return rng.seeded(seed).words(size) / 2.0**62 + 0.2


@given(maps, st.integers(0, 2**32))
@settings(deadline=None)
def test_apply_and_transpose_equal_the_dense_matrix(pair: Pair, seed: int) -> None:
    implicit, dense = pair
    assert (implicit.rows, implicit.cells) == dense.shape
    counts = (rng.seeded(seed).words(implicit.cells) % 1000).astype(np.int64)
    answers = implicit.apply(counts)
    assert np.issubdtype(answers.dtype, np.integer)
    assert np.array_equal(answers, dense @ counts)
    real = vector(implicit.cells, seed)
    assert np.allclose(implicit.apply(real), dense @ real, **CLOSE)
    noisy = vector(implicit.rows, seed)
    assert np.allclose(implicit.transpose(noisy), dense.T @ noisy, **CLOSE)


@given(maps)
@settings(deadline=None)
def test_sensitivity_is_the_largest_change_over_all_neighbours(pair: Pair) -> None:
    implicit, dense = pair
    for order, relation in itertools.product((1, 2), RELATIONS):
        assert implicit.sensitivity(order, relation) == brute_sensitivity(dense, order, relation)


@given(st.tuples(st.integers(1, 16), st.sampled_from([2, 3, 5])))
@settings(deadline=None)
def test_sensitivity_of_a_stack_of_unlike_maps_is_the_largest_change(size: tuple[int, int]) -> None:
    cells, branching = size
    implicit = Stack((Identity(cells), Tree(cells, branching), Haar(cells)))
    dense = np.vstack([np.eye(cells, dtype=np.int64), tree_matrix(cells, branching), padded_haar(cells)[:, :cells]])
    for order in (1, 2):
        relation = Relation.ADD_REMOVE
        assert implicit.sensitivity(order, relation) == brute_sensitivity(dense, order, relation)
        relation = Relation.REPLACE_ONE
        assert implicit.sensitivity(order, relation) >= brute_sensitivity(dense, order, relation)


def least_squares(dense: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The reconstruction (A^T V^-1 A)^-1 A^T V^-1 and its covariance."""
    precision = np.divide(1.0, variance)
    covariance = np.linalg.inv(dense.T @ (precision[:, None] * dense))
    return covariance @ dense.T * precision, covariance


def inverse(dense: np.ndarray, variance: np.ndarray, cells: int) -> tuple[np.ndarray, np.ndarray]:
    back = np.linalg.inv(dense)[:cells]
    return back, back * variance @ back.T


def check_reconstruction(implicit: Invertible, back: np.ndarray, covariance: np.ndarray, variance: object) -> None:
    answers, weights = vector(implicit.rows, 1), vector(implicit.cells, 2)
    assert np.allclose(implicit.reconstruct(answers, variance), back @ answers, **CLOSE)
    assert np.allclose(implicit.covariance(weights, variance), covariance @ weights, **CLOSE)
    counts = vector(implicit.cells, 3)
    assert np.allclose(implicit.reconstruct(implicit.apply(counts), variance), counts, **CLOSE)


@given(st.one_of(identities, trees), st.booleans(), st.integers(0, 2**32))
@settings(deadline=None)
def test_reconstruction_of_cells_and_trees_is_weighted_least_squares(pair: Pair, equal: bool, seed: int) -> None:  # noqa: FBT001  # drawn
    implicit, dense = pair
    variance = 2.5 if equal else spreads(implicit.rows, seed)
    back, covariance = least_squares(dense, np.broadcast_to(variance, (implicit.rows,)))
    check_reconstruction(implicit, back, covariance, variance)


@given(st.integers(1, 70), st.booleans(), st.integers(0, 2**32))
@settings(deadline=None)
def test_reconstruction_of_haar_is_the_inverse_of_the_padded_matrix(cells: int, equal: bool, seed: int) -> None:  # noqa: FBT001  # drawn
    implicit = Haar(cells)
    variance = 2.5 if equal else spreads(implicit.rows, seed)
    back, covariance = inverse(padded_haar(cells), np.broadcast_to(variance, (implicit.rows,)), cells)
    check_reconstruction(implicit, back, covariance, variance)


@pytest.mark.parametrize(("cells", "branching"), [(2, 2), (7, 2), (8, 2), (10, 3), (26, 5)])
def test_an_inner_node_of_infinite_variance_is_ignored(cells: int, branching: int) -> None:
    implicit, dense = Tree(cells, branching), tree_matrix(cells, branching)
    for node in range(implicit.rows - cells):
        variance = spreads(implicit.rows, node)
        variance[node] = math.inf
        back, covariance = least_squares(dense, variance)
        check_reconstruction(implicit, back, covariance, variance)


def test_a_leaf_that_was_not_measured_is_refused() -> None:
    variance = np.where(np.arange(7) == 4, np.inf, 1.0)
    with pytest.raises(ValueError, match="every leaf must have been measured"):
        Tree(4).reconstruct(np.ones(7), variance)


def test_haar_support_is_the_squared_norm_of_every_row() -> None:
    for cells in (1, 2, 3, 8, 20):
        assert Haar(cells).support.tolist() == (padded_haar(cells) ** 2).sum(axis=1).tolist()


@pytest.mark.parametrize(
    ("cells", "branching", "levels"),
    [
        (1, 2, (1,)),
        (2, 2, (1, 2)),
        (5, 2, (1, 2, 3, 5)),
        (9, 3, (1, 3, 9)),
        (10, 3, (1, 2, 4, 10)),
        (26, 5, (1, 2, 6, 26)),
    ],
)
def test_levels_of_trees_whose_size_is_no_power(cells: int, branching: int, levels: tuple[int, ...]) -> None:
    tree = Tree(cells, branching)
    assert tree.levels == levels
    assert tree.height == len(levels) - 1
    assert [len(level) for level in tree.split(np.arange(tree.rows))] == list(levels)


def test_off_by_one_levels_do_not_equal_brute_force() -> None:
    """The control: the check that pins sensitivity rejects a tree of one level more or less."""
    for cells in (2, 8, 9):
        right = brute_sensitivity(tree_matrix(cells, 2), 1, Relation.ADD_REMOVE)
        assert Tree(2 * cells).sensitivity(1, Relation.ADD_REMOVE) == right + 1
        assert Tree(-(-cells // 2)).sensitivity(1, Relation.ADD_REMOVE) == right - 1


def test_marginals_in_another_order_are_transposed_tables() -> None:
    shape = (2, 3, 4)
    counts = np.arange(24)
    table = Marginal(shape, (0, 2)).apply(counts).reshape(2, 4)
    assert np.array_equal(Marginal(shape, (2, 0)).apply(counts).reshape(4, 2), table.T)
    full = counts.reshape(shape).transpose(2, 0, 1).ravel()
    assert np.array_equal(Marginal(shape, (2, 0, 1)).apply(counts), full)
    assert Marginal(shape, ()).apply(counts).tolist() == [counts.sum()]


@pytest.mark.parametrize("axes", [(0, 0), (2,), (-1,), (0, 1, 2)])
def test_axes_that_the_table_does_not_have_are_refused(axes: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="axes must be different axes of a table of 2 axes"):
        Marginal((2, 3), axes)


@pytest.mark.parametrize("make", [Identity, Tree, Haar])
@pytest.mark.parametrize("cells", [0, -1, True, 2.0])
def test_a_number_of_cells_that_is_none_is_refused(make: Callable[[int], LinearMap], cells: int) -> None:
    with pytest.raises(ValueError, match="cells must be an integer >= 1"):
        make(cells)


def test_branching_below_two_and_stacks_of_unlike_cells_are_refused() -> None:
    with pytest.raises(ValueError, match="branching must be an integer >= 2"):
        Tree(4, 1)
    with pytest.raises(ValueError, match="must share their cells"):
        Stack((Identity(4), Identity(5)))
    with pytest.raises(ValueError, match="must share their cells"):
        Stack(())


def test_split_answers_of_a_stack_are_its_parts_in_order() -> None:
    stack = Stack((Identity(3), Tree(3), Marginal((3,), ())))
    parts = stack.split(stack.apply(np.array([1, 2, 4])))
    assert [part.tolist() for part in parts] == [[1, 2, 4], [7, 3, 4, 1, 2, 4], [7]]


@pytest.mark.parametrize("make", [Identity, Tree, Haar])
def test_every_map_keeps_its_protocols(make: Callable[[int], LinearMap]) -> None:
    assert isinstance(make(4), Invertible)
    assert isinstance(Marginal((2, 2), (0,)), LinearMap)
    assert isinstance(Stack((make(4),)), LinearMap)
    assert not isinstance(Marginal((2, 2), (0,)), Invertible)


@pytest.mark.parametrize("cells", [1, 2, 5, 12])
def test_prefix_sums_are_their_matrix(cells: int) -> None:
    implicit, matrix = Prefix(cells), np.tril(np.ones((cells, cells)))
    variance = np.linspace(0.5, 2.0, cells)
    x, y, w = np.sin(np.arange(3 * cells) ** 2).reshape(3, cells)
    back = np.linalg.inv(matrix)
    covariance = back @ np.diag(variance) @ back.T
    np.testing.assert_allclose(implicit.apply(x), matrix @ x)
    np.testing.assert_allclose(implicit.transpose(y), matrix.T @ y)
    np.testing.assert_allclose(implicit.reconstruct(y, variance), back @ y)
    np.testing.assert_allclose(implicit.covariance(w, variance), covariance @ w, atol=1e-12)
    np.testing.assert_allclose(implicit.cell_variances(variance), np.diag(covariance))
    for order in (1, 2):
        assert implicit.sensitivity(order, Relation.ADD_REMOVE) == cells
        assert implicit.sensitivity(order, Relation.REPLACE_ONE) == cells - 1
