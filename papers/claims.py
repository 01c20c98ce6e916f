"""What a verdict is: a quantity with its standard error, the band that a claim states, and a violation to be caught.

rows of a run -> quantity over all runs, its error by leaving out one run at a time -> held, did not hold, depends on
an axis, or cannot be checked. A verdict is only given where the planted violation would have been caught by as many
runs; every quantity builds the rows of an example of any value, by which the tests let every claim hold and fail.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from quantities import Quantity, Row, Tables, chosen, mean

Whose = Literal["document", "dpress", "identity"]
HELD, NOT, DEPENDS, UNKNOWN = "held", "did not hold", "depends on", "cannot be checked"
ERRORS = 4  # standard errors outside a band at which a claim did not hold; few runs have heavy tails
RUNS = 3  # of an example
ROUNDING = 1e-9  # of a value at the end of a band
PART = 0.25  # of a stated number: what "about" allows on both sides


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """What a claim allows a quantity to be, both ends included.

    Args:
        low: the smallest value; -inf where the claim gives no lower end.
        high: the largest.
        words: the band as people write it.
    """

    low: float
    high: float
    words: str

    def inside(self, value: float, slack: float = 0.0) -> bool:
        """Say whether a value lies in the band, widened by a slack at both ends."""
        slack += ROUNDING * abs(value)
        return self.low - slack <= value <= self.high + slack


def about(low: float, high: float | None = None, *, part: float = PART) -> Band:
    """Return the band around a number that a document states, or around two of them, two-sided.

    >>> about(4).words
    'about 4: 3 to 5'
    """
    top = low if high is None else high
    stated = f"{low:g}" if high is None else f"{low:g} to {high:g}"
    ends = (low * (1 - part), top * (1 + part))
    return Band(low=ends[0], high=ends[1], words=f"about {stated}: {ends[0]:.3g} to {ends[1]:.3g}")


def within(stated: float, tolerance: float) -> Band:
    """Return the band of a stated number with a tolerance."""
    return Band(low=stated - tolerance, high=stated + tolerance, words=f"{stated:g} +- {tolerance:g}")


def at_most(high: float) -> Band:
    """Return the band of a claim that names no lower end."""
    return Band(low=-math.inf, high=high, words=f"at most {high:g}")


def at_least(low: float) -> Band:
    """Return the band of a claim that names no upper end."""
    return Band(low=low, high=math.inf, words=f"at least {low:g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence that is tested.

    Args:
        key: its name in the records, of the paper's own.
        whose: the document's; of dpress, about its own methods; or an identity, which must hold.
        words: what is claimed, in our words.
        place: where the document says so: section, figure, table, theorem.
        quantity: what is measured.
        band: what the claim allows.
        violation: a value of the quantity, or several, that must be told from the band, or the runs were too few.
        axis: the column whose every value is judged by itself; empty where there is none.
        data: the data sets that it is about; with a stand-in for one of them nothing is decided.
        note: what every line must say, e.g. which data stand in for the document's.
        blocked: why it cannot be checked at all; empty where it can.
    """

    key: str
    whose: Whose
    words: str
    place: str
    quantity: Quantity
    band: Band
    violation: float | tuple[float, ...]
    axis: str = ""
    data: tuple[str, ...] = ()
    note: str = ""
    blocked: str = ""

    @property
    def violations(self) -> tuple[float, ...]:
        """Every planted violation, e.g. one on either side of a band."""
        return self.violation if isinstance(self.violation, tuple) else (self.violation,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A quantity at one place of a claim's axis.

    Args:
        at: the place; empty where there is no axis.
        value: over all runs.
        error: its standard error; 0 for what does not vary.
        runs: how many.
        verdict: held, did not hold or cannot be checked.
        why: it cannot be.
    """

    at: str
    value: float
    error: float
    runs: int
    verdict: str
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A claim with what was found."""

    claim: Claim
    figures: tuple[Figure, ...]
    why: str = ""
    stand_in: bool = field(default=False)

    @property
    def kind(self) -> str:
        """One of the four verdicts."""
        found = {one.verdict for one in self.figures} - {UNKNOWN}
        if self.why or not found:
            return UNKNOWN
        return found.pop() if len(found) == 1 else DEPENDS

    @property
    def words(self) -> str:
        """The verdict with the axis that it depends on; or that some places of the axis are undecided."""
        if self.kind == DEPENDS:
            return f"{DEPENDS} {self.claim.axis}"
        part = self.kind != UNKNOWN and UNKNOWN in {one.verdict for one in self.figures}
        return f"{self.kind}, in part undecided" if part else self.kind

    @property
    def found(self) -> str:
        """What was measured, and at how many runs; of every place of the axis."""
        if self.why:
            return self.why
        return "; ".join(map(self._shown, self.figures)) + (" (made-up stand-in)" if self.stand_in else "")

    def _shown(self, one: Figure) -> str:
        at = f"{self.claim.axis} {one.at}: " if self.claim.axis else ""
        error = f" +- {_short(one.error, 2)}" if one.error > ROUNDING * abs(one.value) else ""
        verdict = f", {one.verdict}" if self.kind == DEPENDS else ""
        why = f" ({one.why})" if one.why else ""
        return f"{at}{_short(one.value, 3)}{error}{verdict}{why}"

    @property
    def line(self) -> str:
        """The verdict in a line."""
        claim = self.claim
        note = f" [{claim.note}]" if claim.note else ""
        stated = f"{claim.quantity.words}; {claim.band.words}" if not claim.blocked else "not tested"
        return f"{self.words}  {claim.place}: {claim.words}{note} ({stated}): {self.found}"


def _short(value: float, digits: int) -> str:
    """Return a figure as a person reads it: thousands whole, smaller ones with few digits."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.{digits}g}"


def judge(claim: Claim, tables: Tables, stand_ins: frozenset[str] = frozenset()) -> Verdict:
    """Return the verdict on a claim.

    Args:
        claim: what is judged.
        tables: rows with the number of their `run`, by the table's name.
        stand_ins: data sets in whose place made-up tables stand: nothing is decided by them.
    """
    if claim.blocked:
        return Verdict(claim=claim, figures=(), why=claim.blocked)
    rows = chosen(tables.get(claim.quantity.table, ()), claim.quantity.where)
    made_up = bool(stand_ins & set(claim.data))
    places = list(dict.fromkeys(str(row[claim.axis]) for row in rows)) if claim.axis else [""]
    figures = [_figure(claim, [row for row in rows if not at or str(row[claim.axis]) == at], at) for at in places]
    found = tuple(one for one in figures if one is not None)
    if made_up:
        found = tuple(_undecided(one, "a made-up table, not the document's data") for one in found)
    return Verdict(claim=claim, figures=found, why="" if found else "no such setting was run", stand_in=made_up)


def _figure(claim: Claim, rows: Sequence[Row], at: str) -> Figure | None:
    """Return the quantity of some rows; None where they do not give it."""
    try:
        value, error, runs = jackknife(claim.quantity.of, rows)
    except (ValueError, ZeroDivisionError):
        return None
    slack = ERRORS * error
    found = Figure(at=at, value=value, error=error, runs=runs, verdict=NOT)
    known = math.isfinite(value) and math.isfinite(error)
    if known and not claim.band.inside(value, slack):
        return found  # however few the runs
    hidden = [one for one in claim.violations if claim.band.inside(one, slack)]
    if not known or hidden:
        planted = " or ".join(f"{one:g}" for one in hidden or claim.violations)
        return _undecided(found, f"{runs} runs would not tell {planted} from what is claimed")
    if not claim.band.inside(value):
        return _undecided(found, f"outside the band, but by less than {ERRORS} standard errors")
    return Figure(at=at, value=value, error=error, runs=runs, verdict=HELD)


def _undecided(one: Figure, why: str) -> Figure:
    return Figure(at=one.at, value=one.value, error=one.error, runs=one.runs, verdict=UNKNOWN, why=why)


def jackknife(of: Callable[[Sequence[Row]], float], rows: Sequence[Row]) -> tuple[float, float, int]:
    """Return a quantity of all runs, its standard error by leaving out each run in turn, and the number of runs.

    The error of a single run is infinite; that of rows without a `run` is 0: they hold what does not vary.

    Raises:
        ValueError: there are no rows, or they do not give the quantity.
    """
    if not rows:
        raise ValueError("no rows")
    value, runs = of(rows), sorted({row["run"] for row in rows if "run" in row})
    if not runs:
        return value, 0.0, 1
    if len(runs) == 1:
        return value, math.inf, 1
    parts = np.array([of([row for row in rows if row.get("run") != run]) for run in runs])
    error = math.sqrt((len(runs) - 1) / len(runs) * float(((parts - parts.mean()) ** 2).sum()))
    return value, error, len(runs)


def example(claim: Claim, value: float) -> dict[str, list[Row]]:
    """Return tables in which the claim's quantity has a value, in every one of a few runs."""
    fixed = {name: one[0] if isinstance(one, tuple) else one for name, one in claim.quantity.where.items()}
    place = {claim.axis: "x"} if claim.axis else {}  # where neither the setting nor the example states it
    rows = [place | fixed | row | {"run": run} for run in range(RUNS) for row in claim.quantity.example(value)]
    return {claim.quantity.table: rows}


def identity(key: str, words: str, place: str, error: Callable[[float], float], tolerance: float) -> Claim:
    """Return a claim that algebra decides: it must hold, and must fail when the stated figure is 1 % another.

    Args:
        key: its name.
        words: what is claimed.
        place: where.
        error: from a factor on what is stated to how far it then is from what is computed, at most.
        tolerance: what rounding may add to it.
    """
    planted = error(1.01)
    quantity = Quantity(
        words="largest difference",
        table="identities",
        where={"key": key},
        of=lambda rows: mean(rows, "error"),
        example=lambda value: [{"key": key, "error": error(1.0) if value <= tolerance else planted}],
    )
    band = at_most(tolerance)
    return Claim(key=key, whose="identity", words=words, place=place, quantity=quantity, band=band, violation=planted)


def computed(claims: Sequence[Claim]) -> list[Row]:
    """Return the table of identities, each as it is stated."""
    own = [one for one in claims if one.whose == "identity"]
    return [row for one in own for row in one.quantity.example(-math.inf)]
