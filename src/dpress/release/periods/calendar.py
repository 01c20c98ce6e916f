"""The calendar of a specification with periods: their names and spans, and the specification of one span.

spec -> periods of its attribute of dates -> spans -> for each a specification with one cell of time, and its share.
"""

import datetime as dt
import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np

from dpress import catalog
from dpress.attributes.dates.attribute import Date
from dpress.attributes.dates.calendar_cells import DAY, name, number, start
from dpress.attributes.domain import Schema
from dpress.attributes.value import FIRST_DAY
from dpress.core.basics.claim import Relation
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.any_loss import describe
from dpress.core.basics.losses.any_loss import parameters as amounts
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.read import from_parameters
from dpress.core.maps import spans as counters
from dpress.core.maps.spans import Span, Variances
from dpress.data.specification.spec import Spec
from dpress.data.specification.spec_parts import Data, Periods
from dpress.query.query_tree import named, valued
from dpress.release.plan.plan_text import Listing

DIGITS = 10**12  # of a share of a loss, rounded down


@dataclass(frozen=True)
class Calendar:
    """The periods of a specification.

    Args:
        spec: that has some.
    """

    spec: Spec

    def __post_init__(self) -> None:
        kind = self.spec.release.kind
        if kind not in catalog.kind(kind).by_period:
            kinds = catalog.where("by_period")
            raise NotSupported(f"$.periods: kind = {kind!r} is not published by periods; {kinds} is")
        if "hour" in self.dated.cells:
            raise NotSupported("$.periods.attribute: an hour is no period; use days or longer ones")

    @property
    def periods(self) -> Periods:
        """What the specification says of its periods."""
        if self.spec.periods is msgspec.UNSET:
            raise ValueError(
                "$.periods: the specification has no such section; a series needs one, with the attribute of its dates"
            )
        return self.spec.periods

    @property
    def dated(self) -> Date:
        """The attribute of dates."""
        return self.dated_of(self.spec.schema)

    def dated_of(self, schema: Schema) -> Date:
        """Return the attribute of dates as a schema has it."""
        dated = schema.attribute(self.periods.attribute).calendar
        if dated is None:
            raise ValueError(f"$.periods.attribute: {self.periods.attribute} has no dates")
        return dated

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all periods, in order; one that the bounds cut is named like a whole one."""
        cells, begins = self.dated.cells, self.dated.edges[:-1].astype(np.int64)
        return tuple(name(cells, hour) for hour in start(cells, number(cells, begins)).tolist())

    @functools.cached_property
    def counter(self) -> str:
        """Which spans are measured; where that is left to the plan, those of which runs of periods err least."""
        if self.periods.counter != "auto":
            return self.periods.counter
        return min(self.errors, key=lambda name: self.errors[name].in_a_row)

    @functools.cached_property
    def errors(self) -> Mapping[str, Variances]:
        """What counts err by counter that may be chosen: mean variances, in that of one period of its own.

        Statistics do not add up, and counters protect rows, so that neither has a choice. A span of a counter has an
        s-th of the loss: s^2 times the variance under epsilon, s times under rho.
        """
        free = self.spec.privacy.unit == "row" and catalog.kind(self.spec.release.kind).of_counts
        power, errors = 1 if self.spec.privacy.rho is not None else 2, {}
        for counter in ("separate", "tree", "smooth") if free else ("separate",):
            every = counters.spans(counter, len(self.names))
            variances = counters.variances(every, len(self.names))
            errors[counter] = Variances(*(counters.depth(every) ** power * variance for variance in variances))
        return errors

    @functools.cached_property
    def spans(self) -> tuple[Span, ...]:
        """All spans that are measured until the last period has closed."""
        return counters.spans(self.counter, len(self.names))

    @property
    def division(self) -> str:
        """What the periods are of."""
        zone = f" in {self.dated.clocks}" if self.dated.clocks else ""
        return f"{self.dated.name} by {self.dated.cells}{zone}"

    @property
    def touched(self) -> int:
        """In how many periods one unit's rows count at most."""
        per_unit = self.periods.per_unit
        return 1 if per_unit is msgspec.UNSET else per_unit

    @property
    def of_persons(self) -> bool:
        """Whether persons are protected, whose rows lie in many periods."""
        return self.spec.privacy.unit != "row"

    @property
    def moved(self) -> int:
        """How many units of a span a neighbour changes: two where a row is replaced, which may leave for another."""
        return 2 if self.spec.privacy.relation is Relation.REPLACE_ONE else 1

    @property
    def whole(self) -> Loss:
        """The loss of one unit over all periods."""
        times, each = self.moved * self.touched, amounts(self.spec.privacy.loss)
        loss: Loss = from_parameters({name: times * value for name, value in each.items()})
        return loss

    @property
    def text(self) -> tuple[str, ...]:
        """What a plan says of the periods: what one unit loses in all, and how errors grow."""
        count, shares = len(self.names), counters.depth(self.spans)
        whom = self.spec.privacy.protected.name
        which = f"{count:,} periods, {self.names[0]} to {self.names[-1]}"
        lines = [f"The figures are for one of {which}; over all of them a {whom} loses {describe(self.whole)}."]
        if self.of_persons:
            lines.append(
                f"A {whom}'s rows count in the first {self.touched:,} of the periods that have any: purge no earlier "
                "rows, or the person counts in more of them and loses more."
            )
        if shares > 1:
            lines.append(f"A row is in up to {shares} spans that are measured, each with an equal share of that.")
        if count > 1:
            lines.append(f"A count over all {count:,} periods errs {self._growth(count):.3g} times as much.")
            lines.append("Typical errors once all are published, in that of one period of its own (`counter`):")
        return tuple(lines)

    @property
    def plain(self) -> dict[str, Any]:
        """The same as plain data: mean variances by counter."""
        return {counter: variances._asdict() for counter, variances in self.errors.items()}

    @property
    def comparison(self) -> Listing | None:
        """What counts err by counter, for a plan; None where there is one period."""
        rows = [
            ["*" if counter == self.counter else "", counter, *(f"{math.sqrt(variance):.3g}" for variance in variances)]
            for counter, variances in self.errors.items()
        ]
        header = ("", "counter", "one period", "the first t periods", "periods in a row")
        return Listing(header=header, rows=rows, numbers=(2, 3, 4)) if len(self.names) > 1 else None

    def _growth(self, periods: int) -> float:
        """Return the standard error of the count of the first periods, in those of one span."""
        wanted = (np.arange(len(self.names)) < periods).astype(float)
        share = counters.coefficients([span for span in self.spans if span[1] < periods], wanted)
        return math.inf if share is None else math.sqrt(float(share @ share))

    def place(self, period: str) -> int:
        """Return the place of a period, from 0.

        Raises:
            ValueError: there is none of this name.
        """
        try:
            return self.names.index(period)
        except ValueError:
            first, last = self.names[0], self.names[-1]
            raise ValueError(f"--period: expected one from {first} to {last}, got {period!r}") from None

    def rows_of(self, period: str) -> Spec:
        """Return the specification of the rows of one period alone, by a condition beside its own.

        Raises:
            ValueError: there is none of this name.
        """
        self.place(period)
        dated, data = msgspec.structs.replace(self.dated, outside="drop"), self.spec.data or Data()
        test = f"{named(dated.name)} = {valued(period)}"
        where = f"({self.spec.where}) and {test}" if self.spec.where else test
        attributes = tuple(dated if attribute.name == dated.name else attribute for attribute in self.spec.attribute)
        return msgspec.structs.replace(self.spec, data=msgspec.structs.replace(data, where=where), attribute=attributes)

    def folder(self, span: Span) -> str:
        """Return the name of a span, which its folder has."""
        first, last = (self.names[place] for place in span)
        return first if first == last else f"{first}_to_{last}"

    def of(self, span: Span) -> Spec:
        """Return the specification of one span: the same with one cell of time, and its share of the loss."""
        low, high = self.dated.edges_at(np.array([span[0], span[1] + 1])).tolist()
        days = tuple(dt.date.fromordinal(hour // DAY + FIRST_DAY) for hour in (low, high - DAY))
        drop: dict[str, Any] = {"outside": "drop", "null": "drop" if self.dated.null != "reject" else "reject"}
        dated = msgspec.structs.replace(self.dated, bounds=days, cells="whole", **drop)
        attributes = tuple(dated if attribute.name == dated.name else attribute for attribute in self.spec.attribute)
        with_time = catalog.kind(self.spec.release.kind).by_period[self.spec.release.kind]
        parameters = with_time(self.spec.release.parameters, self.spec.schema.names, dated.name)
        release = msgspec.structs.replace(self.spec.release, parameters=parameters)
        return msgspec.structs.replace(
            self.spec, attribute=attributes, release=release, privacy=self._share(), periods=msgspec.UNSET
        )

    def _share(self) -> Any:
        """Return the promise of one span: of a loss an equal share for every span that a row is in."""
        privacy, parts = self.spec.privacy, counters.depth(self.spans)
        name = privacy.loss.names[0]
        share = int(Fraction(str(getattr(privacy, name))) / parts * DIGITS) / DIGITS
        return msgspec.structs.replace(privacy, **{name: share}) if parts > 1 else privacy
