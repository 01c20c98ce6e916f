"""Replicate weights: which they are, how far a row's can lie from its weight, and the error of sampling they tell.

parameters -> attributes of the replicates, sums of deviations; noisy deviations -> a variance of sampling.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from msgspec import UNSET

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.attributes.numbers.attribute import Numeric
from dpress.core.basics.parameters import PLACE
from dpress.core.maps.linear import Array
from dpress.inference.replicate_variance import sampling_variance
from dpress.inference.sampling_variance import SamplingVariance
from dpress.kinds.statistics.curator.weights import heaviest, row_weight
from dpress.kinds.statistics.kind import Statistics
from dpress.mechanisms.linear.moment_sums import MomentSums
from dpress.mechanisms.linear.replicate_sums import ReplicateSums

HERE = f"{PLACE}.replicates"
LEVELS = 1 << 20
WIDER = 4  # so many times as large as the method allows a replicate weight may be before it is clamped
BESIDE = ("replicate_method", "fay", "replicate_scale")


@dataclass(frozen=True, kw_only=True)
class Replication:
    """What a method of replicate weights says of them, u = 1 for the largest weight.

    Args:
        factor: c in the variance c sum_r (theta_r - theta)^2.
        highest: of a replicate weight, in parts of the weight that it replaces.
        norms: the largest L1 and L2 norm of a row's deviations.
    """

    factor: float
    highest: float
    norms: tuple[float, float]


def replication(terms: Statistics) -> Replication:
    """Return what the method of the replicates says of them.

    Jackknife: a deleted group has weight 0, the m - 1 others of its stratum m / (m - 1) times theirs, at most twice:
    L1 at most 2, L2^2 at most 2. Balanced repeated replication: fay or 2 - fay times the weight, in every replicate:
    L1 = (1 - fay) R, L2^2 = (1 - fay)^2 R. Successive differences: 1 + (h - h') / 2^(3/2) for two rows of a Hadamard
    matrix, which differ in half of the R replicates: L1 = R / 2^(3/2), L2^2 = R / 4.
    """
    size, fay = len(terms.replicates or ()), terms.fay
    methods = {
        "jackknife": Replication(factor=(size - 1) / size, highest=2.0, norms=(2.0, math.sqrt(2))),
        "brr": Replication(
            factor=1 / (size * (1 - fay) ** 2),
            highest=2 - fay,
            norms=((1 - fay) * size, (1 - fay) * math.sqrt(size)),
        ),
        "successive differences": Replication(
            factor=4 / size, highest=1 + 0.5**0.5, norms=(size * 0.5**1.5, math.sqrt(size) / 2)
        ),
    }
    method = methods[str(terms.replicate_method)]
    if terms.replicate_scale is None:
        return method
    return Replication(factor=terms.replicate_scale, highest=method.highest, norms=method.norms)


def check_replicates(schema: Schema, terms: Statistics) -> None:
    """Refuse replicates without a weight or a method, or that are attributes, and what says more of none.

    Raises:
        ValueError: so it is.
    """
    if terms.replicates is None:
        for word in BESIDE:
            if getattr(terms, word) != getattr(Statistics(), word):
                raise ValueError(f"{PLACE}.{word}: it is of replicate weights; name them in `replicates`")
        return
    _check_names(schema, terms.replicates)
    if terms.weight is None:
        raise ValueError(f"{HERE}: replicates stand beside a weight; name it in `weight`")
    if schema.attribute(terms.weight).numbers is None:
        raise ValueError(f"{HERE}: {terms.weight} has a list of values; replicates need a weight with `bounds`")
    if not math.isfinite(terms.replicate_scale or 1.0):
        raise ValueError(f"{PLACE}.replicate_scale: expected a finite number > 0")
    if terms.replicate_method is None:
        raise ValueError(f'{PLACE}.replicate_method: expected "jackknife", "brr" or "successive differences"')
    if terms.fay and terms.replicate_method != "brr":
        raise ValueError(f'{PLACE}.fay: it is of replicate_method = "brr" alone')


def _check_names(schema: Schema, names: Sequence[str]) -> None:
    for place, name in enumerate(names, 1):
        if name in names[: place - 1]:
            raise ValueError(f"{HERE}[#{place}]: {name} stands there twice")
        if name in schema.names:
            raise ValueError(
                f"{HERE}[#{place}]: {name} is an attribute, too; leave that out, replicates are read as the weight is"
            )


def replicate_attributes(schema: Schema, terms: Statistics) -> tuple[Tabular, ...]:
    """Return the attributes of the replicates, and of the weight as its column has it, from 0 on, clamped far above."""
    if not terms.replicates or terms.weight is None:
        return ()
    weight = schema.attribute(terms.weight)
    high = WIDER * float(weight.numbers.ends[1]) * replication(terms).highest  # type: ignore[union-attr]  # as checked
    as_read = f"{terms.weight} as read"
    while as_read in (*schema.names, *terms.replicates):
        as_read += "_"
    columns = dict.fromkeys(terms.replicates, UNSET) | {as_read: weight.columns[0]}
    return tuple(
        Numeric(name=name, column=column, bounds=(0.0, high), bins=LEVELS, outside="clamp", null=weight.null)  # type: ignore[attr-defined]
        for name, column in columns.items()
    )


def replicate_sums(
    schema: Schema, terms: Statistics, moments: Sequence[MomentSums], order: int
) -> tuple[ReplicateSums, ...]:
    """Return the sums of deviations that belong to some moments; none without replicates.

    Args:
        schema: with the attributes of the replicates.
        terms: the parameters.
        moments: of weighted rows.
        order: of the norm that the noise is for.
    """
    if not terms.replicates:
        return ()
    method, names, as_read = replication(terms), terms.replicates, schema.names[-1]
    replicate, weight = row_weight(schema, names[0]), row_weight(schema, terms.weight)
    which: Literal[1, 2] = 1 if order == 1 else 2
    return tuple(
        ReplicateSums(
            part=part,
            axes=schema.axes(names),
            replicate=replicate,  # type: ignore[arg-type]  # there is one
            ratio=heaviest(schema, replicate) / heaviest(schema, weight),
            order=which,
            bound=method.norms[which - 1],
            factor=method.factor,
            read=schema.axes([as_read])[0],
        )
        for part in moments
    )


@dataclass(frozen=True, kw_only=True)
class Deviations:
    """The noisy sums of deviations of many sets of groups, in parts of the largest weight.

    Args:
        part: that was measured.
        sums: shape (sets, replicates, ends).
        variance: of one of them, shape (sets,).
    """

    part: ReplicateSums
    sums: Array
    variance: Array

    @property
    def weights(self) -> Array:
        """How far the sum of the weights of every replicate lies from that of the weights, shape (sets, replicates)."""
        weights: Array = self.sums.sum(axis=2)
        return weights

    def of_sum(self, centre: float, radius: float) -> SamplingVariance:
        """Return the variance of a sum of centre u + radius u t, or of u alone where there is no number."""
        return self.variance_of(*self.sum_shifts(centre, radius))

    def sum_shifts(self, centre: float, radius: float) -> tuple[Array, Array]:
        """Return how far a sum is from that of every replicate, and the variance of its noise."""
        ends = self.sums.shape[2]
        levels = self.sums[:, :, -1] - self.sums[:, :, 0]
        noise = ends * self.variance * (centre**2 + (radius**2 if ends > 1 else 0.0))
        return centre * self.weights + radius * levels, noise[:, None]

    def shifts(self, ratio: Array, weights: Array, radius: float) -> tuple[Array, Array]:
        """Return how far radius T / U, a ratio of sums, is from that of every replicate, and the variance of its noise.

        (T + x) / (U + y) - T / U = (x - y T / U) / (U + y), whose noise 2 v (1 + (T / U)^2) is exact. A denominator
        counts at least as half of U.

        Args:
            ratio: T / U, shape (sets,).
            weights: U, shape (sets,).
            radius: of the number.
        """
        levels = self.sums[:, :, -1] - self.sums[:, :, 0] - ratio[:, None] * self.weights
        noise = (2 * self.variance * (1 + ratio**2))[:, None]
        scale = radius / _divisors(weights, self.weights)
        return scale * levels, scale**2 * noise

    def quotients(self, first: Array, second: Array, weights: tuple[float, float]) -> tuple[Array, Array]:
        """Return how far the ratio of two sets' weights is from that of every replicate, and the variance of its noise.

        Of the deviations of every group; see `shifts`.

        Args:
            first: which groups the first set has, 0 or 1, shape (groups,).
            second: which the second one has.
            weights: of both sets.
        """
        ratio = weights[0] / weights[1]
        form, ends = first - ratio * second, self.sums.shape[2]
        scale = 1 / _divisors(np.array(weights[1:]), (second @ self.weights)[None])
        noise = ends * float(form**2 @ self.variance)
        return scale * (form @ self.weights), scale**2 * noise

    def variance_of(self, deviations: Array, noise: Array) -> SamplingVariance:
        """Return the variance of what the replicates lie so far from; see `sampling_variance`."""
        noises = np.broadcast_to(noise, deviations.shape)
        return sampling_variance(deviations, noises, factor=self.part.factor, order=self.part.order)


def _divisors(weights: Array, deviations: Array) -> Array:
    """Return the sums of the weights of every replicate, at least half of U, shape (sets, replicates)."""
    every = np.where(weights > 0, weights, 1.0)[:, None]
    return np.maximum(every + deviations, every / 2)


def deviations_of(part: ReplicateSums, sums: Array, variance: Array) -> Deviations:
    """Return the deviations that sums of shape (sets, replicates * ends) are."""
    return Deviations(part=part, sums=sums.reshape(len(sums), len(part.axes), part.ends), variance=variance)
