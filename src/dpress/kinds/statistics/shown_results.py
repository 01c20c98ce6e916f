"""The statistics of groups as a page shows them: hidden numbers are NaN, with a mask, and counts are rounded."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.group_moments import Estimates, changed
from dpress.inference.suppression import Display, noise_and_sampling
from dpress.kinds.statistics.group_results import COUNT, CountedEstimates, GroupResults
from dpress.query.suppressed_rows import COUNTED, may_be_zero


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSums:
    """Statistics of groups as they are shown.

    Args:
        sums: as they are published.
        display: how they are shown.
    """

    sums: CountedEstimates
    display: Display

    @property
    def names(self) -> tuple[str, ...]:
        """The statistics."""
        return self.sums.names

    @property
    def quantile_shares(self) -> Mapping[str, tuple[Fraction, ...]]:
        """The quantiles of every attribute that has some."""
        return self.sums.quantile_shares

    @property
    def counts(self) -> tuple[Array, Array]:
        """The count of every set, and its variance, as they are published."""
        return self.sums.counts

    def of(self, name: str, share: Fraction | None = None) -> Estimates:
        """Return one statistic of all sets as it is shown."""
        return shown(self.sums.of(name, share), self.display, name, counts_of(self.sums))


def displayed(results: GroupResults, display: Display) -> GroupResults:
    """Return statistics as a page shows them; as they are where nothing is hidden or rounded."""
    if display.whole:
        return results
    counts = None if results.sums is None else counts_of(results.sums)
    chosen = {name: shown(each, display, name, counts) for name, each in results.chosen.items()}
    sums = None if results.sums is None else ShownSums(sums=results.sums, display=display)
    return GroupResults(sums=sums, chosen=chosen)


def counts_of(sums: CountedEstimates) -> Array | None:
    """Return the count of every set; None where it is not published."""
    return sums.counts[0] if COUNT in sums.names else None


def shown(statistic: Estimates, display: Display, name: str, counts: Array | None) -> Estimates:
    """Return one statistic as it is shown."""
    ends, multiple = (statistic.low, statistic.high), display.base if name.split(" ", maxsplit=1)[0] in COUNTED else 1
    judged = noise_and_sampling(statistic.standard_error, ends, statistic.sampling, statistic.population)
    mask = display.hidden(statistic.value, *judged, counts, signed=may_be_zero(name))
    if multiple > 1:
        low, high = display.outward(ends)
        statistic = replace(statistic, value=display.rounded(statistic.value), low=low, high=high)
    blank = changed(statistic, lambda column: np.where(mask, np.nan, column))
    return replace(blank, hidden=mask, multiple=multiple)


def hidden_of(results: GroupResults) -> tuple[int, int]:
    """Return how many numbers are hidden, and how many there are."""
    masks = [mask for name in results.names if (mask := results.of(name).hidden) is not None]
    return sum(int(mask.sum()) for mask in masks), sum(mask.size for mask in masks)
