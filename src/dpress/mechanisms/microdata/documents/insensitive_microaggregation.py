"""`insensitive_microaggregation`: groups of k along a public order, and noisy means and modes of the groups.

rows -> as many as is public -> sorted by distance from a public record -> groups of k -> sums + noise, noisy modes
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np
import numpy.typing as npt
from msgspec import Meta

from dpress.attributes.mixed import Column, example
from dpress.core.basics import check
from dpress.core.basics.claim import ROW, Claim, Unit
from dpress.core.basics.losses.any_loss import describe
from dpress.core.basics.losses.pure import PureDP, pure
from dpress.core.basics.parameters import Parameters
from dpress.core.basics.rng import Generator
from dpress.core.methods.mechanism import Card, Synthesizer, SyntheticRecords
from dpress.core.methods.people import Codes, Counts, People
from dpress.mechanisms.microdata.documents.fixed_number import exactly
from dpress.noise.choose import report_noisy_max
from dpress.noise.laplace import DiscreteLaplace


@dataclass(frozen=True, slots=True, kw_only=True)
class InsensitiveMicroaggregation(Synthesizer):
    """Groups that one record changes little: consecutive records in a total order of all possible records.

    Promise: pure epsilon, both relations, central model. Proven:
        1. The order (distance from the record of first cells, then the codes) is total and public. If one record of n
           is replaced, the sorted list loses one entry and gains one, and every entry between the two moves by one
           place. A group in between loses the record at one end and gains one at the other; the others keep theirs.
           So each of the G = floor(n / k) groups has at most one record replaced.
        2. The sum of a number over a group changes by 2 span units at most: all G sums have L1 sensitivity G 2 span,
           the means of groups of exactly k the document's (n / k)(span / k). Noise of scale G 2 span / share.
        3. A group's count of a category changes by 1 at most, so a noisy maximum with epsilon share / G has that loss
           against one replacement; G groups compose to share. (The histograms of all groups have L1 sensitivity 2 G.)
        4. Attributes compose, and so do the rows of a unit: share = epsilon / (attributes with more than one cell x
           rows of a unit). The number of records is public (`fixed_number`), and with it the sizes of the groups.
        Needs the whole table at once.
    Error: of a group's mean the noise has variance about 2 (G 2 span / (k share))^2 units: useful for k > sqrt(n).
    Paper: Soria-Comas, Domingo-Ferrer, Sanchez and Martinez 2014 (insensitive MDAV by a total order).

    Args:
        columns: of the records; their weights are those of the distance.
        loss: epsilon.
        users: n, the number of records that are released; public.
        group: k, at least 2; the last group has up to 2 k - 1 records.
        unit: whom the promise protects.
    """

    columns: tuple[Column, ...]
    loss: PureDP
    users: int
    group: int
    unit: Unit = ROW

    def __post_init__(self) -> None:
        pure(self.loss, f"the noise of a group is calibrated to epsilon, got {describe(self.loss)}")
        check.count("users", self.users)
        check.count("group", self.group, least=2)
        if self.group > self.users:
            raise ValueError(f"group must be at most users, got group={self.group}, users={self.users}")

    @property
    def groups(self) -> int:
        """G, the number of groups."""
        return self.users // self.group

    @property
    def sizes(self) -> Counts:
        """The number of records of every group, shape (G,)."""
        sizes = np.full(self.groups, self.group, dtype=np.int64)
        sizes[-1] += self.users % self.group
        return sizes

    @property
    def share(self) -> Fraction:
        """The epsilon of one attribute, against one replaced record."""
        return self.loss.epsilon / (max(1, sum(column.size > 1 for column in self.columns)) * self.unit.rows)

    @property
    def claim(self) -> Claim:
        """The promise, for the numbers that the samplers use."""
        basis = (
            f"one replaced record replaces at most one record in each of {self.groups} groups: sums of every number "
            f"with noise of scale {self.groups} x range / {self.share}, every mode with epsilon "
            f"{self.share / self.groups}; {self.unit.rows} records a unit, attributes compose"
        )
        return Claim(published=self.loss, proven=self.loss, unit=self.unit, basis=basis)

    def release(self, people: People, *, rng: Generator) -> SyntheticRecords:
        """Return `users` records in random order, each group's centre as often as the group has records."""
        records = exactly(people.table(), self.users, rng=rng)
        return SyntheticRecords(codes=self.aggregated(records, rng=rng), measurement=None)

    def aggregated(self, codes: Codes, *, rng: Generator) -> npt.NDArray[np.int32]:
        """Return every record's noisy centre, in the order of the `users` records, shape (attributes, users)."""
        places, out = self.places(codes), np.empty(codes.shape, dtype=np.int32)
        for column, column_codes, made in zip(self.columns, codes, out, strict=True):
            made[places] = np.repeat(self._centres(column, column_codes[places], rng=rng), self.sizes)
        return out

    def places(self, codes: Codes) -> npt.NDArray[np.int64]:
        """Return the places of the records in the public order, shape (users,)."""
        return order(self.columns, codes)

    def noise(self, column: Column) -> DiscreteLaplace:
        """Return the noise of every group's sum of a number with more than one cell, in units."""
        return DiscreteLaplace.calibrate(epsilon=self.share, l1_sensitivity=self.groups * 2 * column.span)

    @property
    def mode_epsilon(self) -> Fraction:
        """The epsilon of one group's mode of one category."""
        return self.share / self.groups

    def histograms(self, column: Column, codes: npt.NDArray[np.int32]) -> Counts:
        """Return the exact counts of every cell in every group, shape (G, size), from sorted codes."""
        groups = np.repeat(np.arange(self.groups), self.sizes)
        counts = np.bincount(groups * column.size + codes, minlength=self.groups * column.size)
        return counts.reshape(self.groups, column.size).astype(np.int64, copy=False)

    def _centres(self, column: Column, codes: npt.NDArray[np.int32], *, rng: Generator) -> npt.NDArray[np.int32]:
        """Return the code of every group's noisy mean, or its noisy mode."""
        if column.size == 1:
            return np.zeros(self.groups, dtype=np.int32)
        counts = self.histograms(column, codes)
        if column.numeric:
            sums = counts @ column.units + self.noise(column).sample(self.groups, rng=rng)
            return column.nearest(sums / self.sizes)
        modes = [report_noisy_max(group, epsilon=self.mode_epsilon, sensitivity=1, rng=rng) for group in counts]
        return np.array(modes, dtype=np.int32)


def order(columns: tuple[Column, ...], codes: Codes) -> npt.NDArray[np.int64]:
    """Return the places of records sorted by their distance from the record of first cells, then by their codes.

    The distance is a function of the record alone, rounding included, so the order is total on all possible records.
    """
    distance = np.zeros(codes.shape[1])
    for column, column_codes in zip(columns, codes, strict=True):
        table = (column.scaled - column.scaled[0]) ** 2 if column.numeric else column.distance[:, 0]
        distance += (column.weight * table)[column_codes]
    return np.lexsort((*codes[::-1], distance))


def insensitive_microaggregation(
    columns: tuple[Column, ...], loss: PureDP, unit: Unit, *, users: int, group: int
) -> InsensitiveMicroaggregation:
    """Return the mechanism over these columns; see there for what is refused."""
    return InsensitiveMicroaggregation(columns=columns, loss=loss, unit=unit, users=users, group=group)


def _example(loss: PureDP, unit: Unit) -> InsensitiveMicroaggregation:
    return InsensitiveMicroaggregation(columns=example(), loss=loss, unit=unit, users=5, group=2)


class Settings(Parameters, frozen=True):
    """The groups, and the number of records."""

    group: Annotated[int, Meta(ge=2, description="records of a group, at most `users`")]
    users: Annotated[int, Meta(ge=1, description="the number of records that are released, exactly; public")]


CARD = Card(
    name="insensitive_microaggregation",
    family="microdata",
    model="central",
    paper="microdata: Guarantee (insensitive microaggregation of Soria-Comas et al. 2014)",
    summary="Noisy centres of groups of k along a public order; useful for k well above the square root of n.",
    method=InsensitiveMicroaggregation,
    example=_example,
    synthesizer=insensitive_microaggregation,
    parameters=Settings,
)
