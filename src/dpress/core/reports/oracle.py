"""Frequency oracles: what a device sends of one value out of k, and what the collector estimates from the reports.

A report's payload is a fixed number of bytes, so that reports are one array. The device's and the collector's side use
the same numbers of the same object; nothing but `perturb` ever sees a value.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from dpress.core.basics.claim import Claim
from dpress.core.basics.rng import Generator

if TYPE_CHECKING:  # a device makes none
    from dpress.core.maps.linear import Array
    from dpress.core.maps.measurement import Measurement

Values = npt.NDArray[np.int32]  # codes from 0, shape (users,)
Payloads = npt.NDArray[np.uint8]  # one report a row, shape (users, width)
Tally = npt.NDArray[np.int64]  # of one fixed shape; tallies of disjoint users add up
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """The exact distribution of a report, where there are few enough of them.

    Args:
        payloads: every possible report, shape (outputs, width).
        probabilities: P(report | value), a row for every value, exact: each row adds up to 1.
    """

    payloads: Payloads
    probabilities: tuple[tuple[Fraction, ...], ...]


@runtime_checkable
class Correlated(Protocol):
    """An oracle whose counts of different values correlate, for the values that users hold."""

    def covariances(self, held: "Array", users: int, weights: "Array") -> float:
        """Return the sum of w_i w_j Cov(count_i, count_j) over i != j, in counts squared.

        Args:
            held: how many users hold each value, shape (k,).
            users: how many reported.
            weights: w, shape (k,).
        """
        ...


@runtime_checkable
class Oracle(Protocol):
    """A local mechanism over k values, and the estimate that belongs to it."""

    @property
    def size(self) -> int:
        """The number of values, k."""
        ...

    @property
    def width(self) -> int:
        """The number of bytes of a report's payload."""
        ...

    @property
    def claim(self) -> Claim:
        """The promise of one report, from the probabilities that `perturb` uses."""
        ...

    def perturb(self, values: Values, *, rng: Generator) -> Payloads:
        """Return one report for every value: what a device does, for many devices at once.

        Raises:
            ValueError: a value is not one of 0, ..., k - 1 (the value is not shown).
        """
        ...

    def faults(self, payloads: Payloads) -> Mapping[str, Mask]:
        """Return by reason which reports the mechanism cannot have sent; every mask has shape (users,)."""
        ...

    def tally(self, payloads: Payloads) -> Tally:
        """Return what the reports add up to; each report adds the same whatever the others are."""
        ...

    def estimate(self, tally: Tally, users: int) -> "Measurement":
        """Return the unbiased estimate of how many users hold each value, with its variance, shape (k,)."""
        ...

    def variance(self, users: int, frequency: float = 0.0) -> float:
        """Return the exact variance, in counts squared, of the estimate of a value that a share of the users holds."""
        ...

    def channel(self) -> Channel:
        """Return the exact channel.

        Raises:
            NotSupported: there are more than 2^16 different reports.
        """
        ...
