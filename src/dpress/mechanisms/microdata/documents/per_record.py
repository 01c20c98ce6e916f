"""`per_record`: every value of every record perturbed by itself, as if its owner had done it.

rows -> as many records as is public, in random order -> each number + noise, each category by randomised response
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
from dpress.core.methods.people import Codes, People
from dpress.mechanisms.microdata.documents.fixed_number import exactly
from dpress.noise.laplace import DiscreteLaplace
from dpress.noise.response import truth_probability, truthful
from dpress.noise.uniform import below


@dataclass(frozen=True, slots=True, kw_only=True)
class PerRecord(Synthesizer):
    """Discrete Laplace noise on every number, randomised response for every category, and no grouping.

    Promise: pure epsilon, both relations, central model (it would hold for devices, too). Proven: a value goes from
        one to any other with a ratio of probabilities of at most e^share (a number moves by 2 span units at most and
        gets noise of scale 2 span / share; a category is kept with odds e^share / (values - 1)); the attributes of a
        record compose sequentially, records are perturbed independently, and the number of records is public
        (`fixed_number`). share = epsilon / (attributes with more than one cell x rows of a unit). Records are
        shuffled: the place of a row in the table says whose it is, and shifts when another row is dropped. Needs the
        whole table at once.
    Error: a number before it is clipped to its bounds has the variance of the noise, about 2 (2 span / share)^2 units;
        a category is another one with probability (values - 1) / (e^share + values - 1).
    Paper: microdata, Baselines; the document gives every attribute the whole epsilon, which does not add up.

    Args:
        columns: of the records.
        loss: epsilon.
        users: the number of records that are released; public.
        unit: whom the promise protects.
    """

    columns: tuple[Column, ...]
    loss: PureDP
    users: int
    unit: Unit = ROW

    def __post_init__(self) -> None:
        pure(self.loss, f"the noise of a record is calibrated to epsilon, got {describe(self.loss)}")
        check.count("users", self.users)

    @property
    def share(self) -> Fraction:
        """The epsilon of one value."""
        return self.loss.epsilon / (max(1, sum(column.size > 1 for column in self.columns)) * self.unit.rows)

    @property
    def claim(self) -> Claim:
        """The promise, for the share that every sampler uses."""
        basis = (
            f"every value with epsilon {self.share} of its own, {self.unit.rows} records a unit, attributes compose; "
            f"{self.users} records, shuffled"
        )
        return Claim(published=self.loss, proven=self.loss, unit=self.unit, basis=basis)

    def release(self, people: People, *, rng: Generator) -> SyntheticRecords:
        """Return `users` records in random order."""
        records = exactly(people.table(), self.users, rng=rng)
        return SyntheticRecords(codes=self.perturbed(records, rng=rng), measurement=None)

    def perturbed(self, codes: Codes, *, rng: Generator) -> npt.NDArray[np.int32]:
        """Return every record perturbed, in the same order, shape (attributes, rows)."""
        pairs = zip(self.columns, codes, strict=True)
        return np.stack([self._values(column, column_codes, rng) for column, column_codes in pairs])

    def noise(self, column: Column) -> DiscreteLaplace:
        """Return the noise of a number with more than one cell, in units."""
        return DiscreteLaplace.calibrate(epsilon=self.share, l1_sensitivity=2 * column.span)

    def kept(self, column: Column) -> Fraction:
        """Return the probability that a category stays what it is; every other one is as likely as any other."""
        return truth_probability(self.share, Fraction(column.size - 1))

    def _values(self, column: Column, codes: npt.NDArray[np.int32], rng: Generator) -> npt.NDArray[np.int32]:
        if column.size == 1:
            return np.zeros_like(codes)
        if column.numeric:
            return column.nearest(column.units[codes] + self.noise(column).sample(codes.size, rng=rng))
        kept = truthful(self.kept(column), codes.size, rng=rng)
        other = below(column.size - 1, codes.size, rng=rng)
        return np.where(kept, codes, other + (other >= codes)).astype(np.int32)


def per_record(columns: tuple[Column, ...], loss: PureDP, unit: Unit, *, users: int) -> PerRecord:
    """Return the mechanism over these columns; see there for what is refused."""
    return PerRecord(columns=columns, loss=loss, unit=unit, users=users)


class Settings(Parameters, frozen=True):
    """The number of records."""

    users: Annotated[int, Meta(ge=1, description="the number of records that are released, exactly; public")]


CARD = Card(
    name="per_record",
    family="microdata",
    model="central",
    paper="microdata: Baselines (noise on every record)",
    summary="Perturbs every value of every record by itself: a yardstick, with far more noise than data.",
    method=PerRecord,
    example=lambda loss, unit: PerRecord(columns=example(), loss=loss, unit=unit, users=5),
    synthesizer=per_record,
    parameters=Settings,
)
