"""All statistics of groups, or of sets of them, by name: of noisy sums or reports, and quantiles that were chosen."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array
from dpress.inference.group_moments import Estimates

Mask = npt.NDArray[np.bool_]
COUNT = "count"


class CountedEstimates(Protocol):
    """Statistics of many sets of groups, and their counts."""

    @property
    def names(self) -> tuple[str, ...]:
        """The statistics, in the order that they are published in."""
        ...

    @property
    def quantile_shares(self) -> Mapping[str, tuple[Fraction, ...]]:
        """The quantiles of every attribute that has some."""
        ...

    @property
    def counts(self) -> tuple[Array, Array]:
        """The count of every set, and its variance."""
        ...

    def of(self, name: str, share: Fraction | None = None) -> Estimates:
        """Return one statistic of all sets: one of `names`, or of an attribute the quantile at `share`."""
        ...


@dataclass(frozen=True, kw_only=True)
class GroupResults:
    """All statistics of many sets of groups.

    Args:
        sums: those that follow from noisy sums, or from reports; None where there are none.
        chosen: the quantiles that were chosen, by name; empty where the sets are not the groups themselves.
    """

    sums: CountedEstimates | None
    chosen: Mapping[str, Estimates]

    @property
    def names(self) -> tuple[str, ...]:
        """The statistics, in the order that they are published in."""
        return (*(() if self.sums is None else self.sums.names), *self.chosen)

    def of(self, name: str) -> Estimates:
        """Return one statistic of all sets.

        Raises:
            LookupError: there is none of this name.
        """
        if name in self.chosen:
            return self.chosen[name]
        if self.sums is None:
            raise LookupError(name)
        return self.sums.of(name)


def only(statistic: Estimates, groups: Mask | slice) -> Estimates:
    """Return the estimates of some groups: of those that a mask names, or of a range of them."""
    columns = (statistic.value, statistic.standard_error, statistic.low, statistic.high)
    value, error, low, high = (column[groups] for column in columns)
    return Estimates(value=value, standard_error=error, low=low, high=high)


def quantile_name(name: str, share: Fraction) -> str:
    """Return what a quantile is called."""
    return f"median {name}" if share == Fraction(1, 2) else f"quantile {float(share):g} {name}"
