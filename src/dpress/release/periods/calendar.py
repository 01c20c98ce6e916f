"""The calendar of a specification with periods: their names and spans, and the specification of one span.

spec -> periods of its attribute of dates -> spans -> for each a specification with one cell of time, and its share.
"""

import datetime as dt
import functools
import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np

from dpress.core import spans as counters
from dpress.core.calendar_cells import DAY
from dpress.core.claim import Loss, Relation, from_parameters, parameters
from dpress.core.dated_attribute import Dated
from dpress.core.errors import NotSupported
from dpress.core.spans import Span
from dpress.core.value import FIRST_DAY
from dpress.data.specification.spec import Periods, Spec
from dpress.ledger.compose import DIVISION

KINDS = ("histogram", "marginals", "statistics")
DIGITS = 10**12  # of a share of a loss, rounded down


@dataclass(frozen=True)
class Calendar:
    """The periods of a specification.

    Args:
        spec: that has some.
    """

    spec: Spec

    def __post_init__(self) -> None:
        if not isinstance(self.spec.periods, Periods):
            raise ValueError("$.periods: the specification names none")
        if self.spec.release.kind not in KINDS:
            raise NotSupported(
                f"$.periods: kind = {self.spec.release.kind!r} is not published by periods; {', '.join(KINDS)} are"
            )
        if "hour" in self.dated.cells:
            raise NotSupported("$.periods.attribute: an hour is no period; use days or longer ones")

    @property
    def own(self) -> Periods:
        """What the specification says of its periods."""
        if not isinstance(self.spec.periods, Periods):
            raise ValueError("$.periods: the specification names none")
        return self.spec.periods

    @property
    def dated(self) -> Dated:
        """The attribute of dates."""
        found = self.spec.schema.attribute(self.own.attribute)
        if not isinstance(found, Dated):
            raise ValueError(f"$.periods.attribute: {self.own.attribute} has no dates")
        return found

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all periods, in order."""
        return tuple(self.dated.labels_between(0, self.dated.ordered))

    @functools.cached_property
    def spans(self) -> tuple[Span, ...]:
        """All spans that are measured until the last period has closed."""
        return counters.spans(self.own.counter, len(self.names))

    @property
    def division(self) -> str:
        """What a ledger calls the division of the table into periods."""
        zone = f" in {self.dated.clocks}" if self.dated.clocks else ""
        return f"{self.dated.name} by {self.dated.cells}{zone}"

    @property
    def touched(self) -> int:
        """In how many periods one unit's rows count at most."""
        own = self.own.per_unit
        return 1 if own is msgspec.UNSET else own

    @property
    def moved(self) -> int:
        """How many units of a span a neighbour changes: two where a row is replaced, which may leave for another."""
        return 2 if self.spec.privacy.relation is Relation.REPLACE_ONE else 1

    @property
    def whole(self) -> Loss:
        """The loss of one unit over all periods."""
        times = self.moved * self.touched
        found: Loss = from_parameters(
            {name: times * value for name, value in parameters(self.spec.privacy.loss).items()}
        )
        return found

    def part(self, period: int) -> str:
        """Return what a ledger calls the rows of one period."""
        return f"{self.division}{DIVISION}{self.names[period]}"

    def number(self, name: str) -> int:
        """Return the place of a period, from 0.

        Raises:
            ValueError: there is none of this name.
        """
        try:
            return self.names.index(name)
        except ValueError:
            first, last = self.names[0], self.names[-1]
            raise ValueError(f"--period: expected one from {first} to {last}, got {name!r}") from None

    def name(self, span: Span) -> str:
        """Return the name of a span, which its folder has."""
        first, last = (self.names[one] for one in span)
        return first if first == last else f"{first}_to_{last}"

    def of(self, span: Span) -> Spec:
        """Return the specification of one span: the same with one cell of time, and its share of the loss."""
        low, high = self.dated.edges_at(np.array([span[0], span[1] + 1])).tolist()
        days = tuple(dt.date.fromordinal(hour // DAY + FIRST_DAY) for hour in (low, high - DAY))
        drop: dict[str, Any] = {"outside": "drop", "null": "drop" if self.dated.null != "reject" else "reject"}
        one = msgspec.structs.replace(self.dated, bounds=days, cells="whole", **drop)
        attributes = tuple(one if own.name == one.name else own for own in self.spec.attribute)
        release = msgspec.structs.replace(self.spec.release, parameters=self._parameters())
        return msgspec.structs.replace(
            self.spec, attribute=attributes, release=release, privacy=self._share(), periods=msgspec.UNSET
        )

    def _share(self) -> Any:
        """Return the promise of one span: of a loss an equal share for every span that a row is in."""
        privacy, parts = self.spec.privacy, counters.depth(self.spans)
        shares = {
            name: int(Fraction(str(value)) / parts * DIGITS) / DIGITS
            for name in ("epsilon", "rho")
            if (value := getattr(privacy, name)) is not None
        }
        return msgspec.structs.replace(privacy, **shares) if parts > 1 else privacy

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters of one span: every table, and all groups, with the one cell of time beside them."""
        given, dated, kind = dict(self.spec.release.parameters), self.dated.name, self.spec.release.kind
        if kind == "statistics":
            return given | {"by": [*dict.fromkeys([*given.get("by", ()), dated])]}
        if kind == "marginals":
            others = [name for name in self.spec.schema.names if name != dated]
            ways = min(given.pop("ways", 2), len(others))
            tables = given.get("tables", list(itertools.combinations(others, ways)))
            return given | {"tables": [[*(name for name in own if name != dated), dated] for own in tables]}
        return given
