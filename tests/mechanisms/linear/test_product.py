"""Every strategy over ranges and boxes: implicit = dense = brute force, and what a release measures is as predicted."""

import functools
import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from dpress import catalog
from dpress.core.basics import rng
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.ranges import AllRanges, Axis, Prefixes, Range, RangeList, Ranges, RangesOfLength
from dpress.core.maps.workload import Boxes, Marginals
from dpress.core.methods.mechanism import BoxDecoder, RangeStrategy, Strategy
from dpress.mechanisms.linear import product
from dpress.mechanisms.linear.binary_tree import BinaryTree
from dpress.mechanisms.linear.dst import Dst
from dpress.mechanisms.linear.hierarchy import Hierarchy
from dpress.mechanisms.linear.marginals import Marginals as MarginalStrategy
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.p_identity import PIdentity, _packed
from dpress.mechanisms.linear.privelet import Privelet
from dpress.mechanisms.linear.product import Product, box_variances, mean_variance, over_axes

EPSILON, RHO = PureDP(epsilon=1), ZCDP(rho="0.5")
METHODS = ["identity", "binary_tree", "boost", "privelet", "prefix", "hierarchy", "dst", "p_identity"]
THREE = (2, 3, 4)
SHAPES = [(1,), (7,), (8,), (11,), (3, 5), (4, 8), (1, 6), THREE]


def searched(axis: Axis) -> PIdentity:
    """A strategy such as the optimiser finds, without the search."""
    return _packed(0.2 + np.cos(np.arange(2.0 * axis.cells)).reshape(2, axis.cells) ** 2)


def strategy_of(method: str, shape: tuple[int, ...]) -> Strategy:
    workload = Boxes(tuple(map(AllRanges, shape)))
    if method == "p_identity":
        found = over_axes(workload, searched)
    elif method == "hierarchy":
        found = over_axes(workload, lambda axis: Hierarchy(axis.cells, 3))
    else:
        card = catalog.card(method)
        assert card.strategy is not None
        found = card.strategy(workload, RHO if method == "dst" else EPSILON)
    assert found is not None
    return found


def every_range(cells: int) -> list[Range]:
    return [Range(*ends) for ends in itertools.combinations_with_replacement(range(1, cells + 1), 2)]


def boxes_of(shape: tuple[int, ...]) -> list[Ranges]:
    """All boxes, as their ranges on every axis."""
    combined = zip(*itertools.product(*map(every_range, shape)), strict=True)
    return [Ranges.of(cells, own) for cells, own in zip(shape, combined, strict=True)]


def weights_of(ranges: Sequence[Ranges], place: int) -> list[np.ndarray]:
    return [own.weights(place) for own in ranges]


def flat(weights: Sequence[np.ndarray]) -> np.ndarray:
    query = np.ones(1)
    for axis in weights:
        query = np.kron(query, axis)
    return query


def sine(cells: int) -> np.ndarray:
    """The document's strategy: diag(eigenvalue^1/4) DST-I, columns scaled to norm 1."""
    places = np.arange(1, cells + 1)
    basis = np.sin(np.pi * np.outer(places, places) / (cells + 1))
    rows = basis / np.sqrt(np.sin(np.pi * places / (2 * (cells + 1))))[:, None]
    return rows / np.linalg.norm(rows, axis=0)


def method_of(strategy: Strategy) -> type:
    return type(strategy.factors[0] if isinstance(strategy, Product) else strategy)


@functools.lru_cache(maxsize=64)
def explicit(strategy: Strategy, shape: tuple[int, ...]) -> np.ndarray:
    """The matrix of the answers, in steps; of the sine transform before it is rounded."""
    if method_of(strategy) is Dst:
        whole = np.ones((1, 1))
        for cells in shape:
            whole = np.kron(whole, sine(cells))
        return whole / strategy.map.step
    eye = np.eye(strategy.map.cells, dtype=np.int64)
    return np.stack([strategy.map.apply(cell) for cell in eye], axis=1).astype(float)


def cover(cells: int, query: np.ndarray) -> np.ndarray:
    """The largest dyadic intervals within a range, one row of the tree each: from the top, if no part is covered."""
    rows = explicit(BinaryTree(cells), (cells,))
    left, used = query.copy(), np.zeros(len(rows))
    for place, row in enumerate(rows):
        if (row <= left).all():
            used[place], left = 1.0, left - row
    return used


def _privelet(shape: tuple[int, ...]) -> Strategy:
    factors = tuple(map(Privelet, shape))
    return Product(factors) if len(factors) > 1 else factors[0]


def brute_force(strategy: Strategy, shape: tuple[int, ...], weights: Sequence[np.ndarray], spread: np.ndarray) -> float:
    """The variance of one answer from the explicit matrices; `spread` are the variances of the answers."""
    if method_of(strategy) is BinaryTree:
        return float(flat([cover(cells, own) for cells, own in zip(shape, weights, strict=True)]) ** 2 @ spread)
    if method_of(strategy) is Privelet:  # padded cells are empty, which the reconstruction does not use
        padded = tuple(1 << (cells - 1).bit_length() for cells in shape)
        query = flat([np.pad(own, (0, more - own.size)) for own, more in zip(weights, padded, strict=True)])
        return float(np.linalg.solve(explicit(_privelet(padded), padded).T, query) ** 2 @ spread)
    matrix, query = explicit(strategy, shape), flat(weights)
    return float(query @ np.linalg.solve(matrix.T @ (matrix / spread[:, None]), query))


@pytest.mark.parametrize("method", METHODS)
def test_variances_are_those_of_the_explicit_matrices(method: str) -> None:
    for shape in SHAPES:
        strategy, boxes, variance = strategy_of(method, shape), boxes_of(shape), 2.5
        wanted = [
            brute_force(strategy, shape, weights_of(boxes, place), np.full(strategy.map.rows, variance))
            for place in range(boxes[0].size)
        ]
        np.testing.assert_allclose(box_variances(strategy, boxes, [variance]), wanted, rtol=1e-8, err_msg=str(shape))
        decoder = strategy.decoder
        stated = [decoder.query_variance(variance, weights_of(boxes, place)) for place in range(0, boxes[0].size, 3)]
        np.testing.assert_allclose(stated, wanted[::3], rtol=1e-8, err_msg=str(shape))
        mean = mean_variance(strategy, Boxes(tuple(map(AllRanges, shape))), [variance])
        assert mean == pytest.approx(np.mean(wanted), rel=1e-8), shape


@pytest.mark.parametrize("method", METHODS)
def test_exact_counts_give_every_box_exactly(method: str) -> None:
    """Without noise nothing is wrong but the rounding of `dst` to steps, each by at most half of one."""
    for shape in SHAPES:
        if (method, shape) == ("p_identity", THREE):
            continue  # 64-bit answers in units of 2^-60 hold four rows
        strategy, boxes = strategy_of(method, shape), boxes_of(shape)
        counts = np.arange(strategy.map.cells) ** 2 % 31
        exact = Measurement(map=strategy.map, answers=strategy.map.apply(counts), variance=1.0)
        truth = np.array([flat(weights_of(boxes, place)) @ counts for place in range(boxes[0].size)])
        slack = 0.0
        if method == "dst":
            slack = np.abs(np.linalg.inv(explicit(strategy, shape))).sum() / 2
            assert slack < 0.05, shape
        decoder = strategy.decoder
        assert isinstance(decoder, BoxDecoder), shape
        assert decoder.shape == shape, shape
        np.testing.assert_allclose(
            decoder.box_answers(exact, boxes), truth, rtol=0, atol=1e-9 * (1 + truth.max()) + slack, err_msg=str(shape)
        )
        each = [decoder.answer(exact, weights_of(boxes, place)) for place in range(0, boxes[0].size, 3)]
        np.testing.assert_allclose(each, truth[::3], rtol=0, atol=1e-9 * (1 + truth.max()) + slack, err_msg=str(shape))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_answers_to_many_boxes_are_those_one_by_one(method: str) -> None:
    for shape in [(7,), (3, 5), (2, 3, 4)]:
        strategy, boxes = strategy_of(method, shape), boxes_of(shape)
        answers = np.arange(strategy.map.rows) * 37 % 101
        noisy = Measurement(map=strategy.map, answers=answers, variance=1.0)
        each = [strategy.decoder.answer(noisy, weights_of(boxes, place)) for place in range(boxes[0].size)]
        decoder = strategy.decoder
        assert isinstance(decoder, BoxDecoder), shape
        np.testing.assert_allclose(
            decoder.box_answers(noisy, boxes), each, atol=1e-8 * np.abs(each).max(), err_msg=str(shape)
        )


def test_levels_with_noise_of_their_own_are_those_of_the_explicit_matrices() -> None:
    for case in itertools.product([True, False], [(8, 2), (11, 3), (27, 3), (5, 2)]):
        root, (cells, branching) = case
        levels = Hierarchy(cells, branching, root).map.levels
        variances = [1.0 + level**2 for level in range(len(levels))]
        strategy, boxes = Hierarchy(cells, branching, root), boxes_of((cells,))
        spread = np.repeat(variances, levels)
        wanted = [brute_force(strategy, (cells,), weights_of(boxes, place), spread) for place in range(boxes[0].size)]
        np.testing.assert_allclose(box_variances(strategy, boxes, variances), wanted, rtol=1e-9, err_msg=str(case))
        stated = [strategy.decoder.query_variance(spread, weights_of(boxes, place)) for place in range(boxes[0].size)]
        np.testing.assert_allclose(stated, wanted, rtol=1e-9, err_msg=str(case))
        assert mean_variance(strategy, Boxes((AllRanges(cells),)), variances) == pytest.approx(
            np.mean(wanted), rel=1e-9
        ), case


MIXED = (Prefixes(3), RangesOfLength(5, 2))
LISTS = (
    RangeList(3, (Range(1, 1), Range(2, 3), Range(1, 3), Range(2, 3))),
    RangeList(5, (Range(2, 4), Range(1, 5), Range(3, 3), Range(2, 4))),
)


def ranges_of(axis: Axis) -> list[Range]:
    if isinstance(axis, AllRanges):
        return every_range(axis.cells)
    own = axis.ranges()
    return [Range(int(left), int(right)) for left, right in zip(own.left, own.right, strict=True)]


@pytest.mark.parametrize("method", METHODS)
def test_the_mean_over_a_workload_is_that_of_its_boxes_one_by_one(method: str) -> None:
    for workload in [Boxes(MIXED), Boxes((AllRanges(3), LISTS[1])), Boxes(LISTS), Boxes(LISTS, paired=True)]:
        strategy = strategy_of(method, workload.shape)
        each = [ranges_of(axis) for axis in workload.axes]
        boxes = list(zip(*each, strict=True)) if workload.paired else list(itertools.product(*each))
        assert len(boxes) == workload.queries, workload
        spread = np.ones(strategy.map.rows)
        wanted = [
            brute_force(
                strategy,
                workload.shape,
                [one.weights(cells) for one, cells in zip(box, workload.shape, strict=True)],
                spread,
            )
            for box in boxes
        ]
        assert mean_variance(strategy, workload, [1.0]) == pytest.approx(np.mean(wanted), rel=1e-8), workload


@pytest.mark.parametrize("axis", [Prefixes(product.MOST_RANGES + 1), RangesOfLength(2**53, 2)])
def test_a_mean_over_too_many_ranges_is_refused_at_once(axis: Axis) -> None:
    with pytest.raises(NotSupported, match=r"ranges are too many to average one by one, at most 524,288"):
        product.axis_mean(Privelet(axis.cells), axis, [1.0])


@pytest.mark.parametrize("method", METHODS)
def test_two_axes_are_measured_under_their_promise(method: str) -> None:
    for relation in list(Relation):
        loss = RHO if method == "dst" else EPSILON
        strategy, unit = strategy_of(method, (3, 5)), Unit(relation=relation)
        mechanism = MatrixMechanism(strategy=strategy, loss=loss, unit=unit)
        assert mechanism.claim.proven == loss, relation
        measured = mechanism.measure(np.arange(15), rng=rng.seeded(1))
        assert measured.answers.shape == (strategy.map.rows,), relation
        assert strategy.decoder.estimate(measured)[0].shape == (15,), relation
        assert strategy.decoder.tables == ((0, 1),), relation


def test_a_single_axis_has_no_product_and_a_method_that_does_not_serve_an_axis_serves_none() -> None:
    assert over_axes(Boxes((AllRanges(5),)), lambda axis: Privelet(axis.cells)) == Privelet(5)
    assert over_axes(Boxes((AllRanges(5), Prefixes(3))), lambda axis: Privelet(axis.cells)) == Product(
        (Privelet(5), Privelet(3))
    )
    refusing = over_axes(Boxes((AllRanges(5), Prefixes(3))), lambda axis: Privelet(5) if axis.cells == 5 else None)
    assert refusing is None
    assert over_axes(Marginals((2, 3), ((0,),)), lambda axis: Privelet(axis.cells)) is None


def test_what_is_no_product_of_range_strategies_is_refused() -> None:
    tables = MarginalStrategy((2, 3), ((0,), (1,)))
    with pytest.raises(ValueError, match="Marginals is no strategy over ranges"):
        box_variances(tables, boxes_of((6,)), [1.0])
    with pytest.raises(ValueError):  # noqa: PT011  # zip's own words: as many ranges as axes
        box_variances(Product((Privelet(3), Privelet(3))), boxes_of((3,)), [1.0])


def test_levels_have_no_shares_of_their_own_over_several_axes() -> None:
    card = catalog.card("hierarchy")
    assert card.strategy is not None
    workload = Boxes((AllRanges(8), AllRanges(9)))
    with pytest.raises(ValueError, match="shares of their own over one attribute only"):
        card.strategy(workload, EPSILON, shares=["1/2", "1/2"])
    strategy = card.strategy(workload, EPSILON)
    assert isinstance(strategy, Product)
    assert all(factor.shares == () for factor in strategy.factors)


@pytest.mark.parametrize("method", ["privelet", "hierarchy", "boost", "dst"])
def test_answers_of_several_variances_are_refused_over_several_axes(method: str) -> None:
    strategy = strategy_of(method, (3, 5))
    with pytest.raises(NotSupported, match="one variance"):
        strategy.decoder.cell_variances(np.ones(strategy.map.rows))


REPEATS = 1000
BLIND = 3  # the control: noise whose variance is taken to be that of a box three times as certain
SHAPE = (6, 5)


def scores(mechanism: MatrixMechanism, boxes: Sequence[Ranges], predicted: np.ndarray) -> np.ndarray:
    """Errors over predicted deviations, each from a release of its own: release r answers box r of those in turn."""
    decoder, generator = mechanism.strategy.decoder, rng.seeded(17)
    assert isinstance(decoder, BoxDecoder)
    counts = np.arange(mechanism.strategy.map.cells) * 3
    out = np.empty(REPEATS)
    for repeat in range(REPEATS):
        place = repeat % boxes[0].size
        box = [Ranges(own.cells, own.left[[place]], own.right[[place]]) for own in boxes]
        measured = mechanism.measure(counts, rng=generator)
        truth = flat(weights_of(boxes, place)) @ counts
        out[repeat] = (decoder.box_answers(measured, box)[0] - truth) / math.sqrt(predicted[place])
    return out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "loss"), [("hierarchy", EPSILON), ("privelet", EPSILON), ("binary_tree", EPSILON), ("dst", RHO)]
)
def test_releases_over_two_axes_are_as_wrong_as_predicted(
    centred_with: Callable[[np.ndarray, float], bool], method: str, loss: PureDP | ZCDP
) -> None:
    """`centred_with` raises a false alarm with a chance below 1e-6: 1,000 independent errors of 19 boxes in turn.

    A variance 1.7 times or half the predicted is found with power .995, a bias of a quarter of a deviation with .998.
    """
    strategy = strategy_of(method, SHAPE)
    mechanism = MatrixMechanism(strategy=strategy, loss=loss)
    boxes = [Ranges(own.cells, own.left[::17], own.right[::17]) for own in boxes_of(SHAPE)]
    predicted = box_variances(strategy, boxes, [noise.variance for noise in mechanism.noises])
    errors = scores(mechanism, boxes, predicted)
    assert centred_with(errors, 1.0)
    assert not centred_with(errors * math.sqrt(BLIND), 1.0)  # the control: one axis' sensitivity left out
    assert not centred_with(errors / math.sqrt(BLIND), 1.0)  # the control
    assert not centred_with(errors + 0.25, 1.0)  # the control: a bias


def test_a_product_is_no_strategy_over_one_attribute() -> None:
    assert not isinstance(Product((Privelet(2), Privelet(3))), RangeStrategy)
    assert isinstance(Product((Privelet(2), Privelet(3))), Strategy)
