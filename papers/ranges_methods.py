"""Strategies for ranges, their exact errors, and the errors of many measurements of an empty table at once.

strategy -> matrix from its noisy answers to the answers asked for -> noise of many runs times that matrix -> squares.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress import catalog
from dpress.core.basics import rng
from dpress.core.basics.claim import Relation
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.ranges import AllRanges, Range, Ranges
from dpress.core.maps.tree import Tree
from dpress.core.maps.workload import Boxes
from dpress.core.methods.mechanism import BoxDecoder, RangeStrategy
from dpress.inference.lower_bound import lower_bound
from dpress.mechanisms.linear.binary_tree import Cover
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.noise.laplace import DiscreteLaplace

Array = npt.NDArray[np.float64]
LOSSES: dict[str, PureDP | ZCDP] = {"epsilon = 1": PureDP(epsilon=1), "rho = 0.5": ZCDP(rho="0.5")}
DOCUMENT = ("identity", "binary_tree", "boost", "privelet")  # the strategies that the document knows
CONSISTENT = ("boost", "privelet")  # of them, those that make all answers agree by least squares
SEARCH = "p_identity"  # finds its strategy by a numerical search, for as long as it is told
ADD = Relation.ADD_REMOVE
BLOCK = 1 << 19  # noise values that are drawn at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A strategy under a loss that it accepts."""

    name: str
    loss: str
    mechanism: MatrixMechanism

    @property
    def cells(self) -> int:
        """The number of cells, n."""
        return self.mechanism.strategy.map.cells

    @property
    def strategy(self) -> RangeStrategy:
        """The strategy, which has exact errors of ranges."""
        strategy = self.mechanism.strategy
        if not isinstance(strategy, RangeStrategy):
            raise NotSupported(f"{self.name} has no exact errors of ranges")
        return strategy

    @property
    def noise(self) -> list[float]:
        """The variance of the noise in every part of the map."""
        return [noise.variance for noise in self.mechanism.noises]

    @property
    def real_noise(self) -> list[float]:
        """The variance of real-valued noise of the same scale, as the document adds it: 2 scale^2 for Laplace."""
        found = self.mechanism.noises
        return [float(2 * one.scale**2 if isinstance(one, DiscreteLaplace) else one.sigma2) for one in found]

    @property
    def mean_variance(self) -> float:
        """The exact variance under the noise that is drawn, averaged over all ranges, in counts squared."""
        return self.strategy.average_variance(self.noise)

    @property
    def bound(self) -> float:
        """What no strategy with noise of this kind goes below, averaged over all ranges, in counts squared.

        Real-valued noise of this loss and sensitivity 1 has variance 2 (epsilon = 1) or 1 (rho = 0.5).
        """
        coefficient = lower_bound(Boxes((AllRanges(self.cells),)), ADD)
        return coefficient * (2 if isinstance(self.mechanism.loss, PureDP) else 1)


def subject(name: str, loss: str, cells: int, seconds: float | None = None) -> Subject:
    """Return a strategy for all ranges.

    Args:
        name: as in the catalogue.
        loss: a key of `LOSSES`.
        cells: n.
        seconds: how long a search may take.

    Raises:
        NotSupported: it does not serve all ranges under this loss.
    """
    make = catalog.cards()[name].strategy
    workload = Boxes((AllRanges(cells),))
    more = {} if seconds is None else {"seconds": seconds}
    strategy = None if make is None else make(workload, LOSSES[loss], **more)
    if not isinstance(strategy, RangeStrategy):
        raise NotSupported(f"{name} does not serve all ranges under {loss}")
    found = Subject(name=name, loss=loss, mechanism=MatrixMechanism(strategy=strategy, loss=LOSSES[loss]))
    _ = found.mean_variance  # a strategy may refuse one cell
    return found


def serving(cells: int, loss: str) -> Iterator[Subject]:
    """Yield every strategy of the catalogue that serves all ranges under a loss, without a search."""
    for name in catalog.cards():
        try:
            yield subject(name, loss, cells)
        except NotSupported:
            continue


def subjects(cells: int) -> dict[str, Subject]:
    """Return every strategy once: under epsilon = 1, or, where it refuses that, under rho = 0.5."""
    found: dict[str, Subject] = {}
    for loss in LOSSES:
        for one in serving(cells, loss):
            found.setdefault(one.name, one)
    return found


def random_ranges(cells: int, number: int, source: rng.Generator) -> list[Range]:
    """Return ranges, each equally likely: two different borders of the n + 1."""
    first = source.words(number) % np.uint64(cells + 1)
    second = source.words(number) % np.uint64(cells)
    second += second >= first
    return [Range(min(a, b) + 1, max(a, b)) for a, b in zip(first.tolist(), second.tolist(), strict=True)]


def predicted(one: Subject, ranges: Sequence[Range]) -> Array:
    """Return the exact variance of every range under the noise that is drawn, in counts squared, shape (ranges,)."""
    return one.strategy.range_variances(Ranges.of(one.cells, ranges), one.noise)


def diagonal(one: Subject, ranges: Sequence[Range]) -> Array:
    """Return what adding up the variances of the cells alone gives: the mistake that the document warns of."""
    sums = _prefix_sums(one.mechanism.strategy.decoder.cell_variances(one.mechanism.variance)[0])
    return np.array([sums[asked.right] - sums[asked.left - 1] for asked in ranges])


def noises(mechanism: MatrixMechanism, draws: int, source: rng.Generator) -> Iterator[Array]:
    """Yield the noise of so many measurements in blocks, shape (block, rows): an empty table's noisy answers."""
    size = max(1, BLOCK // mechanism.strategy.map.rows)
    pairs = list(zip(mechanism.noises, mechanism.parts, strict=True))
    for start in range(0, draws, size):
        block = min(size, draws - start)
        drawn = [noise.sample(block * part.rows, rng=source).reshape(block, part.rows) for noise, part in pairs]
        yield np.concatenate(drawn, axis=1).astype(np.float64)


def range_squares(one: Subject, ranges: Sequence[Range], draws: int, source: rng.Generator) -> Array:
    """Return the squared error of every range in every run, shape (draws, ranges)."""
    decoder = one.mechanism.strategy.decoder
    if not isinstance(decoder, BoxDecoder):
        raise NotSupported(f"{type(decoder).__name__} does not answer many ranges at once")
    asked = Ranges.of(one.cells, ranges)
    matrix = np.array([decoder.box_answers(unit, [asked]) for unit in _units(one.mechanism)])
    return np.concatenate([(block @ matrix) ** 2 for block in noises(one.mechanism, draws, source)])


def all_ranges_squares(one: Subject, draws: int, source: rng.Generator) -> Array:
    """Return the mean over all ranges of the squared error in every run, shape (draws,)."""
    decoder = one.mechanism.strategy.decoder
    if isinstance(decoder, Cover) and isinstance(decoder.map, Tree):
        ends = np.cumsum(decoder.map.levels)[:-1]
        total = [_cover_squares(np.split(block, ends, axis=1)) for block in noises(one.mechanism, draws, source)]
    else:
        matrix = np.array([_prefix_sums(decoder.estimate(unit)[0]) for unit in _units(one.mechanism)])
        total = [_pair_squares(block @ matrix) for block in noises(one.mechanism, draws, source)]
    return np.concatenate(total) / (one.cells * (one.cells + 1) / 2)


def _units(mechanism: MatrixMechanism) -> Iterator[Measurement]:
    """Yield the measurements with one noisy answer of 1 and all others 0."""
    for row in np.eye(mechanism.strategy.map.rows, dtype=np.int64):
        yield mechanism.measured(row)


def _prefix_sums(cells: Array) -> Array:
    return np.concatenate([np.zeros(1), np.cumsum(cells)])


def _pair_squares(sums: Array) -> Array:
    """Return the sum over all ranges of the squared difference of the prefix sums at their ends."""
    return np.asarray(sums.shape[1] * np.sum(sums**2, axis=1) - np.sum(sums, axis=1) ** 2)


def _cover_squares(levels: Sequence[Array]) -> Array:
    """Return the sum over all ranges of the squared sum of their cover, for a complete binary tree, shape (runs,).

    A range that crosses the middle of a node is a suffix of its left child plus a prefix of its right child:
    sum_ij (a_i + b_j)^2 = s sum a^2 + s sum b^2 + 2 (sum a) (sum b); both whole make the node itself.
    """
    leaves = levels[-1]
    total = np.sum(leaves**2, axis=1)
    prefix = suffix = leaves[:, :, None]  # by length; the last is the whole node
    for parents in reversed(levels[:-1]):
        width = prefix.shape[2]
        left, right = suffix[:, 0::2], prefix[:, 1::2]
        whole = left[..., -1] + right[..., -1]
        total += width * (np.sum(left**2, axis=(1, 2)) + np.sum(right**2, axis=(1, 2)))
        total += 2 * np.sum(left.sum(axis=2) * right.sum(axis=2), axis=1) + np.sum(parents**2 - whole**2, axis=1)
        prefix = np.concatenate([prefix[:, 0::2], left[..., -1:] + right], axis=2)
        suffix = np.concatenate([suffix[:, 1::2], right[..., -1:] + left], axis=2)
        prefix[..., -1] = suffix[..., -1] = parents
    return total
