"""One method over the columns of mixed records: what a design of records describes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.attributes.mixed import Column, columns
from dpress.core.basics.claim import Claim, Relation
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.plain import Find, added_later, plain, read
from dpress.core.basics.rng import Generator
from dpress.core.basics.written_again import difference
from dpress.core.methods.mechanism import Draw, Drawn, Synthesizer, SyntheticRecords
from dpress.core.methods.people import Codes, Counts, People, of_attributes
from dpress.core.methods.table_sums import Rows
from dpress.inference.row_count import RowCount, by_precision, variance_of
from dpress.mechanisms.microdata.record_rules import NONE, Rules

COPIES = 4  # of records, at the peak
MOST_PAIRS = 1 << 22  # counts of pairs of cells; methods whose columns have more count none of all pairs
GIVEN = ("columns", "loss", "unit")  # fields of every method that no parameter sets


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordMaker:
    """A synthesizer with the attributes that its columns are made of.

    Args:
        attributes: of the records.
        weights: of every attribute in the distance of two records.
        synthesizer: makes the records, over `columns` of those that no rule computes.
        rules: that every record keeps.
    """

    attributes: tuple[Tabular, ...]
    weights: tuple[float, ...]
    synthesizer: Synthesizer
    rules: Rules = NONE

    @property
    def shape(self) -> tuple[int, ...]:
        """The cells of every attribute."""
        return tuple(attribute.size for attribute in self.attributes)

    @property
    def measured(self) -> tuple[int, ...]:
        """The places of the attributes that are measured: those that no rule computes."""
        return self.rules.measured(len(self.attributes))

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of mixed records."""
        return columns(self.attributes, self.weights)

    @property
    def loss(self) -> Loss:
        """What the synthesizer was made for."""
        return self.synthesizer.loss

    @property
    def claim(self) -> Claim:
        """The promise of the method."""
        return self.synthesizer.claim

    @property
    def scipy(self) -> bool:
        """Whether the synthesizer needs SciPy after it has drawn noise."""
        return self.synthesizer.scipy

    @property
    def tail(self) -> Literal["laplace", "gaussian"]:
        """How heavy the noise's tail is."""
        return self.loss.tail

    @property
    def parameters(self) -> dict[str, Any]:
        """What the method was made with, beside what every method has: clusters, rounds, ... as documents have it."""
        made: Any = self.synthesizer
        constants = [*GIVEN, *made.constants]
        constants += [name for name, default in added_later(type(made)).items() if getattr(made, name) == default]
        return {field.name: getattr(made, field.name) for field in fields(made) if field.name not in constants}

    def noise_sse(self, users: int) -> float:
        """Return the squared error that noise adds to the numbers of so many records.

        Infinite where nothing is known: without a formula, and where no column is a number.
        """
        return self.synthesizer.noise_sse(users) if any(column.numeric for column in self.columns) else math.inf

    def prepare(self, rows: Rows) -> Draw:
        """Return what draws the noise and makes records; see `CuratorMechanism`."""
        people = rows.people()
        self.check(people)
        return lambda rng: Drawn(output=self.release(people, rng=rng))

    def numbers_held(self, rows: int) -> int:
        """Return how many numbers are in memory: records with copies, and the counts of pairs that make them."""
        cells = sum(column.size for column in self.columns)
        return COPIES * rows * len(self.attributes) + min(cells * cells, MOST_PAIRS)

    def check(self, people: People) -> None:
        """Refuse a table with fewer rows than a method without a proof needs; one with a proof must not look.

        Raises:
            NotSupported: there are too few.
        """
        needed = max((value for name, value in self.parameters.items() if name in ("clusters", "group")), default=1)
        if self.claim.proven is None and people.fold(_rows)[0] < needed:
            raise NotSupported(f"the table has fewer than {needed} rows, one for every cluster or group")

    @property
    def rows_are_public(self) -> bool:
        """Whether the number of rows is public: one row is replaced by another, and none is ever dropped.

        Of persons only their own number is, and how many rows they keep depends on them.
        """
        unit = self.synthesizer.claim.unit
        whole = unit.column is None and not any(attribute.drops for attribute in self.attributes)
        return unit.relation is Relation.REPLACE_ONE and whole

    @property
    def row_variances(self) -> tuple[float, ...]:
        """Of every table that is measured, the variance of its sum as the number of rows; empty where none is."""
        return tuple(getattr(self.synthesizer, "row_variances", ()))

    @property
    def row_variance(self) -> float | None:
        """The variance of the number of rows that records are made for; 0 where it is public, None without one."""
        if not self.row_variances:
            return None
        return 0.0 if self.rows_are_public else variance_of(self.row_variances)

    def row_count(self, sums: Sequence[float], records: int) -> RowCount | None:
        """Return the number of rows as it is published; None where records are not made from what was measured.

        Args:
            sums: of the tables that were measured, those in front first.
            records: that were made.
        """
        variances = self.row_variances
        if not variances:
            return None
        if self.rows_are_public:
            return RowCount(value=float(records), variance=0.0)
        return by_precision(sums[: len(variances)], variances)

    def release(self, people: People, *, rng: Generator) -> SyntheticRecords:
        """Return records; see `Synthesizer`. The number of rows is read where it is public."""
        if self.rows_are_public:
            people = replace(people, rows=int(people.fold(_rows)[0]))
        if self.rules == NONE:
            return self.synthesizer.release(people, rng=rng)
        possible = self.rules.possible(self.shape)
        made = self.synthesizer.release(replace(of_attributes(people, self.measured), possible=possible), rng=rng)
        return replace(made, codes=self.rules.completed(made.codes, len(self.attributes)))

    def as_plain(self) -> dict[str, Any]:
        """Return what a design says of it: all but the attributes, and rules where there are any."""
        rules = {} if self.rules == NONE else {"rules": plain(self.rules)}
        return {"weights": [*self.weights], "synthesizer": plain(self.synthesizer, context=("columns",)), **rules}

    @classmethod
    def from_plain(
        cls, value: Mapping[str, Any], place: str, *, find: Find, context: Mapping[str, Any]
    ) -> "RecordMaker":
        """Return what a design describes.

        Raises:
            ValueError: a field is missing, unknown, or refused.
        """
        fields = ("weights", "synthesizer", *(("rules",) if "rules" in value else ()))
        if wrong := difference(dict.fromkeys(value), dict.fromkeys(fields), place):
            raise ValueError(wrong)
        attributes = context["attributes"]
        weights = read(tuple[float, ...], value["weights"], f"{place}.weights", find=find)
        rules = read(Rules, value["rules"], f"{place}.rules", find=find) if "rules" in value else NONE
        rules.possible([attribute.size for attribute in attributes])  # refuses what does not fit
        measured = [columns(attributes, weights)[axis] for axis in rules.measured(len(attributes))]
        made: Any = read(
            object, value["synthesizer"], f"{place}.synthesizer", find=find, context={"columns": tuple(measured)}
        )
        return cls(attributes=attributes, weights=weights, synthesizer=made, rules=rules)


def _rows(codes: Codes) -> Counts:
    return np.array([codes.shape[1]], dtype=np.int64)
