"""Strategies over several attributes as the product of one strategy for each: boxes from ranges."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.basics.errors import NotSupported
from dpress.core.maps.kron import kron
from dpress.core.maps.linear import Array, Invertible
from dpress.core.maps.ranges import Axis, Ranges
from dpress.core.maps.workload import Workload
from dpress.core.methods.mechanism import Decoder, RangeStrategy, Strategy

MOST_RANGES = 1 << 19  # of one attribute that are averaged one by one, in seconds


@dataclass(frozen=True, slots=True)
class Product(Strategy):
    """Every product of one query of each factor is measured; a box is the product of its ranges.

    Promise: the sensitivity is the product of the factors' (at most twice that under replace-one); see
    `MatrixMechanism`.
    Error: the coefficient of a box is the product of the coefficients of its ranges; so is the mean over all boxes.
    Paper: McKenna, Miklau, Hay and Machanavajjhala 2018 (Kronecker product strategies).

    Args:
        factors: one strategy for every axis, all of one method, with equal noise on all levels.
    """

    factors: tuple[RangeStrategy, ...]

    @property
    def map(self) -> Invertible:
        """The Kronecker product of the factors' queries."""
        return kron([_invertible(factor) for factor in self.factors])

    @property
    def decoder(self) -> Decoder:
        """The factors' way to answer, over all axes."""
        shape = tuple(factor.map.cells for factor in self.factors)
        decoder: Decoder = type(self.factors[0].decoder)(self.map, shape)  # type: ignore[call-arg]
        return decoder


def over_axes(workload: Workload, build: Callable[[Axis], RangeStrategy | None]) -> Strategy | None:
    """Return the strategy for ranges or boxes whose factors `build` makes, or None where it does not serve."""
    if not workload.axes:
        return None
    factors = [build(axis) for axis in workload.axes]
    serving = tuple(factor for factor in factors if factor is not None)
    if len(serving) < len(factors):
        return None
    return serving[0] if len(serving) == 1 else Product(serving)


def box_variances(strategy: Strategy, ranges: Sequence[Ranges], variances: Sequence[float]) -> Array:
    """Return the exact variance of the answer to every box, in counts squared, shape (m,).

    Args:
        strategy: over as many axes as there are `ranges`.
        ranges: the boxes' ranges on every axis, m each.
        variances: of the noise in every part of the strategy's map, in squared steps.
    """
    if not isinstance(strategy, Product):
        return _over_axis(strategy).range_variances(ranges[0], variances)
    pairs = zip(strategy.factors, ranges, strict=True)
    each = [factor.range_variances(axis, (1.0,)) / factor.map.step**2 for factor, axis in pairs]
    return np.asarray(math.prod(each) * (variances[0] * strategy.map.step**2))


def mean_variance(strategy: Strategy, workload: Workload, variances: Sequence[float]) -> float:
    """Return the exact variance of an answer, averaged over the workload, in counts squared."""
    if workload.paired:
        return float(np.mean(box_variances(strategy, [axis.ranges() for axis in workload.axes], variances)))
    if not isinstance(strategy, Product):
        return axis_mean(_over_axis(strategy), workload.axes[0], variances)
    pairs = zip(strategy.factors, workload.axes, strict=True)
    each = [axis_mean(factor, axis, (1.0,)) / factor.map.step**2 for factor, axis in pairs]
    return math.prod(each) * variances[0] * strategy.map.step**2


def axis_mean(strategy: RangeStrategy, axis: Axis, variances: Sequence[float]) -> float:
    """Return the mean variance of one attribute's ranges: in closed form for all of them, else one by one.

    Raises:
        NotSupported: there are more than 2^19 of them.
    """
    if axis.every:
        return strategy.average_variance(variances)
    check_ranges(axis)
    return float(np.mean(strategy.range_variances(axis.ranges(), variances)))


def check_ranges(axis: Axis) -> None:
    """Refuse more ranges than are averaged one by one.

    Raises:
        NotSupported: there are more than 2^19 of them.
    """
    if not axis.every and axis.queries > MOST_RANGES:
        raise NotSupported(
            f"{axis.queries:,} ranges are too many to average one by one, at most {MOST_RANGES:,}; "
            'use fewer `bins`, or all ranges (queries = "all")'
        )


def _over_axis(strategy: Strategy) -> RangeStrategy:
    if not isinstance(strategy, RangeStrategy):
        raise ValueError(f"{type(strategy).__name__} is no strategy over ranges")
    return strategy


def _invertible(factor: RangeStrategy) -> Invertible:
    if not isinstance(factor.map, Invertible):
        raise ValueError(f"{type(factor).__name__} does not determine its cells")
    return factor.map
