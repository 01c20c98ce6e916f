"""What a release says of the persons of groups: how many, their totals' sum, and a total for each person."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array, Numbers
from dpress.inference import group_moments
from dpress.inference.group_moments import Estimates
from dpress.mechanisms.linear.person_sums import PersonSums

PERSONS = "persons"


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonEstimates:
    """Sums over persons of many groups, or of all.

    Args:
        names: of the attributes.
        parts: that were measured.
        sums: of every part, in persons, shape (sets, degree + 1).
        variances: of one sum of every part, in persons squared.
        steps: of the noise of one sum of every part, in persons.
        z: standard errors to each side of an interval.
    """

    names: tuple[str, ...]
    parts: tuple[PersonSums, ...]
    sums: tuple[Array, ...]
    variances: tuple[float, ...]
    steps: tuple[float, ...]
    z: float

    @property
    def by_name(self) -> dict[str, Callable[[], Estimates]]:
        """Return what gives every statistic, in the order that they are published in."""
        statistics: dict[str, Callable[[], Estimates]] = {}
        if any(part.counts_all for part in self.parts):
            statistics[PERSONS] = lambda: group_moments.linear(*self._persons, self.z, max(self.steps))
        for place, part in enumerate(self.parts):
            if part.axis is not None:
                name = total_name(self.names[part.axis])
                statistics[name] = lambda place=place: self._total(place)  # type: ignore[misc]
                statistics[f"{name} per person"] = lambda place=place: self._mean(place)  # type: ignore[misc]
        return statistics

    @property
    def _persons(self) -> tuple[Array, Array]:
        """Return the persons and their variance: the mean of all parts that count every person, by their precision."""
        counts = [self._persons_in(place) for place, part in enumerate(self.parts) if part.counts_all]
        return group_moments.combined([count for count, _ in counts], [spread for _, spread in counts])

    def _persons_in(self, place: int) -> tuple[Array, Array]:
        sums = self.sums[place]
        return sums.sum(axis=1), np.full(len(sums), sums.shape[1] * self.variances[place])

    def _counted(self, place: int) -> tuple[Array, Array]:
        return self._persons if self.parts[place].counts_all else self._persons_in(place)

    def _difference(self, place: int) -> tuple[Array, Array]:
        sums = self.sums[place]
        return sums[:, 1] - sums[:, 0], np.full(len(sums), 2 * self.variances[place])

    def _total(self, place: int) -> Estimates:
        centre, radius = _scale(self.parts[place])
        (count, count_variance), (total, variance) = self._counted(place), self._difference(place)
        value = centre * count + radius * total
        step = abs(centre) * max(self.steps) + radius * self.steps[place]
        return group_moments.linear(value, centre**2 * count_variance + radius**2 * variance, self.z, step)

    def _mean(self, place: int) -> Estimates:
        centre, radius = _scale(self.parts[place])
        steps = 2 * self.steps[place], max(self.steps)
        mean = group_moments.ratio(*self._difference(place), *self._counted(place), self.z, steps)
        return group_moments.moved(mean, centre, radius)


def total_name(name: str) -> str:
    """Return what the sum of the persons' totals of an attribute is called."""
    return f"total {name}"


def statistics_of(parts: tuple[PersonSums, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of what is published of persons."""
    return tuple(PersonEstimates(names=names, parts=parts, sums=(), variances=(), steps=(), z=1.0).by_name)


def of_sets(part: PersonSums, sums: Numbers, mask: npt.NDArray[np.bool_] | None) -> Array:
    """Return the sums of every group; of a mask those of its one group, or of all; NaN of several groups.

    A person may be in several groups, so the persons of two are not the sum of the persons of each.

    Args:
        part: that was measured.
        sums: of all its sets, in persons, shape (sets * (degree + 1),).
        mask: shape (groups,).
    """
    rows: Array = sums.reshape(part.sets, -1).astype(np.float64)
    if mask is None:
        return rows[: part.groups]
    if mask.all():
        return rows[-1:]
    return rows[:-1][mask] if mask.sum() == 1 else np.full((1, rows.shape[1]), math.nan)


def _scale(part: PersonSums) -> tuple[float, float]:
    low, high = map(float, part.bounds)
    return (low + high) / 2, (high - low) / 2
