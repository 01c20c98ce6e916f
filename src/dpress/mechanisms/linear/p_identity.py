"""`p_identity`: a strategy found by numerical search, for pure epsilon, for the ranges or predicates asked for."""

import functools
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from msgspec import Meta

from dpress.core.basics import check
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.parameters import Parameters
from dpress.core.maps.linear import Array
from dpress.core.maps.p_identity_map import UNIT
from dpress.core.maps.p_identity_map import PIdentity as PIdentityMap
from dpress.core.maps.ranges import Axis, Ranges, gram
from dpress.core.maps.set_sums import SetSums
from dpress.core.maps.workload import Workload
from dpress.core.methods.mechanism import Card, RangeStrategy, Strategy
from dpress.inference.least_squares import LeastSquares
from dpress.inference.range_error import p_identity_variances
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.optimise import (
    DenseGram,
    RangesGram,
    default_starts,
    hierarchy_start,
    mean_coefficient,
    optimise,
)
from dpress.mechanisms.linear.product import over_axes

LARGEST = 1 << 12  # cells that the search takes on in seconds
LEAST = 23  # cells, from which on a strategy for all ranges is known without a search
SHORT_UNIT = 1 << 10  # of each of two attributes: their product is that of one
LARGEST_SCALE = 1 << 48  # of the noise that is drawn
MOST_ATOMS = 1 << 10  # of predicates, for which a search is quick enough to be made unasked
MOST_SUMS = 1 << 8  # of atoms that are measured beside them
SET_WEIGHTS = (0.3, 1.0)  # of the sets in the starts of a search, an atom having 1
BRANCHING, LARGEST_TREE = 8, 1 << 8  # of the tree; over more atoms it takes long and gains nothing
STEPS = 300  # from every start
WORK = 1 << 36  # multiplications of a search without a time: seconds, and the same strategy however busy the machine


@dataclass(frozen=True, slots=True)
class PIdentity(RangeStrategy):
    """Every cell and p weighted sums of cells, the weights found by minimising the mean error of the workload.

    Promise: an integer matrix whose columns all add up to 2^20: L1 sensitivity exactly that, under replace-one twice
    that less what the two columns share that share least; its answers are in units of 2^-20 of a count; see
    `MatrixMechanism`. The search sees no data and costs no privacy.
    Error: coefficient w (A^T A)^-1 w^T; mean over all ranges by `mechanisms.linear.optimise.mean_coefficient`.
    Paper: McKenna, Miklau, Hay and Machanavajjhala 2018 (p-Identity strategies).

    Args:
        cells: n, at most 2^12.
        packed: the p x n weights of `core.maps.p_identity_map.PIdentity`, compressed with zlib; p is at most n + 1.
        unit: what every column adds up to, at most 2^20; the answers are in units of its inverse.
    """

    cells: int
    packed: bytes
    unit: int = UNIT

    def __post_init__(self) -> None:
        for name, most in (("cells", LARGEST), ("unit", UNIT)):  # squares of units must fit 64 bits
            if check.count(name, getattr(self, name)) > most:
                raise ValueError(f"{name} must be at most {most}, got {name}={getattr(self, name)}")

    @property
    def map(self) -> PIdentityMap:
        """The integer matrix."""
        return _unpacked(self.cells, self.packed, self.unit)

    @property
    def decoder(self) -> LeastSquares:
        """Least squares by the Woodbury identity."""
        return LeastSquares(self.map, (self.cells,))

    def range_variances(self, ranges: Ranges, variances: Sequence[float]) -> Array:
        """Return the variances by running sums over the cells, O(p) a range."""
        return p_identity_variances(self.map, ranges, variances[0])

    def average_variance(self, variances: Sequence[float]) -> float:
        """Return the mean over all ranges."""
        theta = self.map.sums / self.map.diagonal
        return mean_coefficient(theta, RangesGram(self.cells))[0] / self.unit**2 * variances[0]


@functools.lru_cache(maxsize=8)
def _unpacked(cells: int, packed: bytes, unit: int) -> PIdentityMap:
    return PIdentityMap(cells, _inflated(packed, 4 * cells * (cells + 1)), unit)


def _inflated(packed: bytes, most: int) -> bytes:
    """Return what was compressed; a few bytes may not become gigabytes.

    Raises:
        ValueError: it is no such data, or more than `most` bytes of it.
    """
    reader = zlib.decompressobj()
    try:
        weights = reader.decompress(packed, most + 1)
    except zlib.error:
        weights = b""
    if not reader.eof or reader.unused_data or len(weights) > most:
        raise ValueError(f"packed must hold at most {most:,} bytes, compressed with zlib, and nothing else")
    return weights


def _strategy(workload: Workload, loss: Loss, *, seconds: float | None = None) -> Strategy | None:
    """Return the strategy that was searched for all ranges of so many cells, or search for so many seconds."""
    if loss.tail == "laplace" and LARGEST_SCALE * loss.amount < UNIT:
        return None
    if workload.sums is not None:
        return _searched_sets(workload.sums, seconds) if workload.cells <= MOST_ATOMS else None
    if not workload.axes or loss.tail != "laplace" or len(workload.axes) > 2:
        return None
    unit = UNIT if len(workload.axes) == 1 else SHORT_UNIT
    if seconds is None:
        return over_axes(workload, lambda axis: _shipped(axis.cells, unit) if LEAST <= axis.cells <= LARGEST else None)
    each = float(seconds) / len(workload.axes)
    return over_axes(workload, lambda axis: _searched(axis, each, unit) if axis.cells <= LARGEST else None)


@functools.lru_cache(maxsize=8)
def _shipped(cells: int, unit: int) -> PIdentity:
    from dpress.mechanisms.linear.hat_functions import hats_of  # noqa: PLC0415  # only where ranges are planned

    return _packed(hats_of(cells), unit)


@functools.lru_cache(maxsize=8)
def _searched(axis: Axis, seconds: float, unit: int) -> PIdentity:
    target = RangesGram(axis.cells) if axis.every else DenseGram(gram(axis.ranges()), axis.queries)
    return _packed(optimise(target, default_starts(axis.cells), seconds=seconds).theta, unit)


@functools.lru_cache(maxsize=8)
def _searched_sets(sums: SetSums, seconds: float | None) -> PIdentity:
    """Search from the atoms alone, from the atoms beside the sets themselves, and from a tree over the atoms.

    Atoms are in the order of their answers, so that nested queries make a chain of them, as ranges do of cells. Unless
    a time is stated, steps are counted, fewer of many atoms, so that the same strategy is found again. It is the best
    that was found for epsilon; under rho its exact error decides whether it is taken.
    """
    matrix = sums.matrix
    sets = np.unique(matrix[matrix.sum(axis=1) > 1], axis=0)[:MOST_SUMS]
    starts = [np.zeros((0, sums.cells)), *(weight * sets for weight in SET_WEIGHTS if len(sets))]
    if BRANCHING < sums.cells <= LARGEST_TREE:
        starts.append(hierarchy_start(sums.cells, BRANCHING))
    target = DenseGram(matrix.T @ matrix, sums.rows)
    steps = STEPS if seconds else affordable_steps([len(start) for start in starts], sums.cells)
    return _packed(optimise(target, starts, seconds=seconds or math.inf, iterations=steps).theta)


def affordable_steps(sums: Sequence[int], cells: int) -> int:
    """Return how many steps a search from every start may take: a step multiplies about 2 p n (n + 2 p) numbers.

    >>> affordable_steps([0, 20, 20], 50), affordable_steps([0, 256, 256], 1000)
    (300, 44)
    """
    each = sum(2 * number * cells * (cells + 2 * number) for number in sums)
    return max(1, min(STEPS, WORK // max(each, 1)))


def _packed(theta: np.ndarray, unit: int = UNIT) -> PIdentity:
    matrix = PIdentityMap.from_theta(theta, unit)
    return PIdentity(matrix.cells, zlib.compress(matrix.weights, 9), unit)


class Settings(Parameters, frozen=True):
    """How long to search."""

    seconds: (
        Annotated[
            float,
            Meta(
                gt=0,
                le=3600,
                description="how long to search for a better strategy; left out, ranges of 23 cells or more take "
                "one that was searched for all ranges, a list of queries a few",
            ),
        ]
        | None
    ) = None


CARD = Card(
    name="p_identity",
    family="linear",
    model="central",
    paper="ranges: What dpress adds (McKenna, Miklau, Hay, Machanavajjhala 2018)",
    summary="Found by a numerical search: the smallest error for ranges or overlapping queries under pure epsilon.",
    method=PIdentity,
    example=lambda loss, unit: MatrixMechanism(
        strategy=_packed(np.kron(np.array([[1, 0], [0, 1], [0.7, 0.7]]), np.full((1, 4), 0.4))), loss=loss, unit=unit
    ),
    strategy=_strategy,
    parameters=Settings,
)
