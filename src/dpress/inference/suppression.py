"""Which published numbers are shown: too uncertain ones, or counts of too few, are hidden, and counts are rounded.

words of a specification -> `Display` -> masks and rounded counts, of published numbers alone: no row is looked at.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array
from dpress.inference.interval import critical

Mask = npt.NDArray[np.bool_]
FORM = re.compile(r"(cv|width|count) *([<>]) *(\d+(?:\.\d+)?)")
SIGNS = {"cv": ">", "width": ">", "count": "<"}
WANTED = 'expected "cv > 0.3", "width > 0.5" or "count < 10", or a list of different ones'
NORMAL = critical(0.95, "gaussian")
COARSEST = 1000
HIDDEN_COLUMN = "hidden"
"""Of a released table: which rows hold hidden numbers."""
MARK = ".."
"""What stands on a page in the place of a hidden number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One reason to hide a number.

    Args:
        measure: "cv", the standard error as a share of the number; "width", that of its interval; or "count".
        bound: the most that a share may be, the least that a count may be.
    """

    measure: str
    bound: float

    @property
    def text(self) -> str:
        """As a specification has it."""
        return f"{self.measure} {SIGNS[self.measure]} {self.bound:g}"

    @property
    def reason(self) -> str:
        """Why a number is hidden, in words."""
        if self.measure == "count":
            return f"fewer than {self.bound:,g} are counted"
        what = "the standard error" if self.measure == "cv" else "the 95 % interval"
        return f"{what} is {'more' if self.measure == 'cv' else 'wider'} than {100 * self.bound:g} % of the number"


@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """How published numbers are shown.

    Args:
        rules: any of which hides a number.
        base: counts are shown as multiples of it.

    >>> shown = display_of({"hide": ["cv > 0.3", "count < 10"], "round": 5})
    >>> count, error = np.array([3.0, 12.0, 98.0]), np.array([0.5, 4.0, 4.0])
    >>> shown.hidden(count, error, (count - 8, count + 8), count), shown.rounded(count)
    (array([ True,  True, False]), array([  5.,  10., 100.]))
    """

    rules: tuple[Rule, ...] = ()
    base: int = 1

    @property
    def whole(self) -> bool:
        """Whether every number is shown as it is."""
        return not self.rules and self.base == 1

    def hidden(
        self,
        value: Array,
        error: Array,
        ends: tuple[Array, Array],
        counts: Array | None,
        *,
        signed: Mask | bool = False,
    ) -> Mask:
        """Return which numbers are hidden; by their error none is that is not known, or whose error is not.

        Args:
            value: the numbers as they are shown, NaN where nothing is known.
            error: their standard errors; where one is NaN, that of a normal variable with the same interval counts.
            ends: of their 95 % intervals, low and high; NaN where there is none.
            counts: how many each is about; None where that is not published.
            signed: which have either sign, so that 0 is a result and no error too large a share of it.
        """
        widths = ends[1] - ends[0]
        spreads = {"cv": np.where(np.isnan(error), widths / (2 * NORMAL), error), "width": widths}
        mask: Mask = np.zeros(value.shape, dtype=np.bool_)
        for rule in self.rules:
            if rule.measure in spreads:
                mask |= (spreads[rule.measure] > rule.bound * np.abs(value)) & ~np.asarray(signed)
            elif counts is not None:
                mask |= counts < rule.bound
        return mask

    def rounded(self, counts: Array) -> Array:
        """Return counts as the nearest multiples of the base, each by itself."""
        return counts if self.base == 1 else self.base * np.rint(counts / self.base)

    def outward(self, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        """Return the ends of intervals as multiples of the base that hold them."""
        if self.base == 1:
            return ends
        return self.base * np.floor(ends[0] / self.base), self.base * np.ceil(ends[1] / self.base)

    def legend(self, hidden: int, numbers: int) -> tuple[str, ...]:
        """Return what a page says of it, a sentence each.

        Args:
            hidden: how many numbers are hidden.
            numbers: of how many.
        """
        reasons = " or ".join(rule.reason for rule in self.rules)
        hides = (
            f"Hidden, shown as \N{LEFT DOUBLE QUOTATION MARK}{MARK}\N{RIGHT DOUBLE QUOTATION MARK} and not drawn, are "
            f"{hidden:,} of {numbers:,} numbers: {reasons}. That is for the reader, and adds no privacy: sentences and "
            "queries are answered with their intervals, and the noisy answers are published."
        )
        rounds = (
            f"Counts in figures and tables are rounded to multiples of {self.base}, each by itself, intervals outward: "
            "they need not add up to their rounded total. Answers and the Parquet files are not rounded."
        )
        return (*((hides,) if self.rules else ()), *((rounds,) if self.base > 1 else ()))

    @property
    def note(self) -> str:
        """What an answer says where the release hides numbers such as it."""
        return f"The release's tables hide a number such as this ({' or '.join(rule.text for rule in self.rules)})."


def noise_and_sampling(
    error: Array, ends: tuple[Array, Array], sampling: Array | None, population: tuple[Array, Array] | None
) -> tuple[Array, tuple[Array, Array]]:
    """Return the error and the interval that decide what is hidden: of noise and sampling, where that is stated.

    Args:
        error: the standard errors of the noise.
        ends: of its intervals.
        sampling: the standard errors of sampling, NaN where they are not stated.
        population: the ends of the intervals of both.
    """
    if sampling is None or population is None:
        return error, ends
    stated = ~np.isnan(sampling)
    low, high = (np.where(stated, both, alone) for both, alone in zip(population, ends, strict=True))
    return np.where(stated, np.hypot(error, np.where(stated, sampling, 0.0)), error), (low, high)


EVERYTHING = Display()
"""All numbers as they are."""


def display_of(release: Mapping[str, Any]) -> Display:
    """Return how a release shows its numbers, as `hide` and `round` of its specification or design say.

    Raises:
        ValueError: what hides is none of the three forms, or stands twice; or the base is no number from 2 to 1000.
    """
    stated, base = release.get("hide", ()), release.get("round", 1)
    texts = (stated,) if isinstance(stated, str) else tuple(stated)
    rules = tuple(map(_rule, texts))
    measures = [rule.measure for rule in rules]
    if "hide" in release and (not rules or len({*measures}) < len(measures)):
        raise ValueError(f".hide: {WANTED}, got {[*texts]}")
    if "round" in release and (isinstance(base, bool) or not isinstance(base, int) or not 2 <= base <= COARSEST):
        raise ValueError(f".round: expected a whole number from 2 to {COARSEST}, such as 3 or 5, got {base}")
    return Display(rules=rules, base=base)


def _rule(text: str) -> Rule:
    match = FORM.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None or match[2] != SIGNS[match[1]] or not float(match[3]) > 0:
        raise ValueError(f".hide: {WANTED}, got {text!r}")
    return Rule(measure=match[1], bound=float(match[3]))
