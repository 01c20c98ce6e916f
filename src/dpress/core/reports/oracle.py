"""Frequency oracles: what a device sends of one value out of k, and what the collector estimates from the reports.

A report's payload is a fixed number of bytes, so that reports are one array. The device's and the collector's side use
the same numbers of the same object; nothing but `perturb` ever sees a value.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from dpress.core.basics.claim import Claim
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Clones:
    """How much of a report is the same for all values.

    Args:
        local: epsilon of one report.
        gamma: P(a report is a clone).
        only: P(a clone speaks for one of two given values and not for the other), at most 1/2.
        both: P(it speaks for both).
    """

    local: Fraction
    gamma: Fraction
    only: Fraction
    both: Fraction = Fraction(0)


@runtime_checkable
class Oracle(Protocol):
    """A local mechanism over k values, and the estimate that belongs to it.

    A base of every oracle, which states what it knows better than the defaults.
    """

    __slots__ = ()
    lasting: ClassVar[bool] = False
    """Whether a device keeps a permanent response: see `mechanisms.oracle.longitudinal.Longitudinal`."""

    if TYPE_CHECKING:  # a field of most, whose default a property would be

        @property
        def size(self) -> int:
            """The number of values, k."""

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

    @property
    def lifelong(self) -> PureDP | None:
        """The loss of any number of reports of any number of values; None where it grows with them."""
        return None

    @property
    def inflation(self) -> float:
        """By how much the variance of a sum of counts may exceed the sum of their variances; 1 where it is exact."""
        return 1.0

    def clones(self, local: Fraction) -> Clones | None:
        """Return how much of a report is the same for all values, where it has two likelihoods; None where it has more.

        The smallest likelihood of every report, made a distribution, with gamma its sum (`inference.shuffling`).

        Args:
            local: epsilon of one report.
        """
        del local
        return None

    def perturb_stated(self, values: Values, stated: Mapping[str, Any], *, rng: Generator) -> Payloads:
        """Return one report for every value, of users who all state the same of their own accord, in clear.

        Args:
            values: codes, shape (users,).
            stated: by name, a choice of a public list.
            rng: a secure generator.

        Raises:
            NotSupported: users state nothing.
            ValueError: a choice is missing, or not of its list (it is not shown).
        """
        self.claim_stated(stated)
        return self.perturb(values, rng=rng)

    def claim_stated(self, stated: Mapping[str, Any]) -> Claim:
        """Return the promise to users who state this.

        Raises:
            NotSupported: users state nothing.
        """
        del stated
        raise NotSupported("the users of this method state nothing of their own")

    def pair_form(self, held: "Array", users: int) -> "tuple[Array, Array, Array] | None":
        """Return what gives the covariances of pairs of counts, as few numbers for each; None without such a form.

        Args:
            held: how many users hold each value, shape (k,).
            users: how many reported.

        Returns:
            squares, shape (k,), rows, shape (r, k), and what is between them, shape (r, r); see `covariances`.
        """
        del held, users
        return None

    def covariances(self, held: "Array", users: int) -> "Callable[[Array], float] | None":
        """Return what gives the sum of w_i w_j Cov(count_i, count_j) over i != j for weights w, in counts squared.

        Of a pair form that is squares w^2 + (rows w)^T between (rows w). None where counts do not correlate.

        Args:
            held: how many users hold each value, shape (k,).
            users: how many reported.
        """
        if (form := self.pair_form(held, users)) is None:
            return None
        squares, rows, between = form
        return lambda weights: float(squares @ weights**2 + (rows @ weights) @ between @ (rows @ weights))
