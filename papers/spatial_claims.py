"""Which claims of the document on positions hold, and which of our corrections of it, with tolerances."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from spatial_methods import made

from dpress.core.tree import Tree
from dpress.inference.maps.top_down import consistent

Row = dict[str, Any]
ERRORS = 4  # standard errors of the difference that are added to every comparison
PART = 0.75  # of a stated factor: what counts as about so many times
FACTORS = (  # data, epsilon, smallest area, rival, stated factor of GT-R's error
    ("landmark", "0.5", 0.20, "qt_rappor", 4),
    ("landmark", "0.5", 0.20, "qt_krr", 3),
    ("landmark", "0.5", 0.20, "psda", 3),
    ("checkin", "0.9", 0.10, "psda", 7),
    ("checkin", "0.9", 0.10, "qt_rappor", 7),
    ("checkin", "0.9", 0.10, "qt_krr", 6),
)
FLAT_FACTORS = (("krr", 3, "3 to 4"), ("rappor", 2, "2 to 3"))
WORSE = 1.5  # times
SMALLEST = 0.05  # area of the document's queries; ours go below


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A claim, whose it is, what was found, and whether the two agree."""

    source: Literal["document", "dpress"]
    claim: str
    found: str
    holds: bool

    @property
    def verdict(self) -> str:
        """The words for it: only a claim of ours can fail, one of the document is held or not."""
        if self.source == "dpress":
            return "holds          " if self.holds else "FAILS          "
        return "held           " if self.holds else "did not hold   "


def of_the_document(rows: Sequence[Row]) -> list[Verdict]:
    """Return a line for every claim of the document."""
    nine = [row for row in rows if row["experiment"] == "nine" and row["low"] >= SMALLEST]
    return [*_factors(nine), *_flat(nine), _best(nine)]


def of_ours(rows: Sequence[Row]) -> list[Verdict]:
    """Return a line for every correction."""
    return [_example(), _no_promise(), _grid_matters(rows), *_against_all(rows)]


def _verdict(source: Literal["document", "dpress"], claim: str, found: str, *, holds: bool) -> Verdict:
    return Verdict(source=source, claim=claim, found=found, holds=holds)


def _settings(rows: Sequence[Row], *names: str) -> Iterator[dict[str, Row]]:
    """Yield by method the rows of every setting, which is told by these columns."""
    found: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in names), {})[row["method"]] = row
    yield from found.values()


def _factors(rows: Sequence[Row]) -> Iterator[Verdict]:
    """How many times GT-R is better than a rival, at the settings that the document names."""
    for data, epsilon, low, rival, stated in FACTORS:
        own = [row for row in rows if (row["data"], row["epsilon"], row["low"]) == (data, epsilon, low)]
        each = list(_settings(own, "side"))
        ratios = [one[rival]["relative_error"] / one["gtr"]["relative_error"] for one in each]
        words = "; ".join(
            f"side {one['gtr']['side']}: {ratio:.2f} times ({one[rival]['relative_error']:.3f} against "
            f"{one['gtr']['relative_error']:.3f})"
            for one, ratio in zip(each, ratios, strict=True)
        )
        claim = f"{data}, epsilon {epsilon}, areas from {low:.0%}: GT-R is about {stated} times better than {rival}"
        yield _verdict(
            "document", f"{claim} (at least {PART * stated:g} on a grid)", words, holds=max(ratios) >= PART * stated
        )


def _flat(rows: Sequence[Row]) -> Iterator[Verdict]:
    """The same of the flat systems, over all settings."""
    for rival, least, words in FLAT_FACTORS:
        ratios: dict[int, list[float]] = {}
        for one in _settings(rows, "data", "epsilon", "side", "low"):
            ratio = one[rival]["relative_error"] / one["n_gtr"]["relative_error"]
            ratios.setdefault(one[rival]["side"], []).append(ratio)
        found = "; ".join(
            f"side {side}: {np.median(own):.2f} times in the median, {min(own):.2f} to {max(own):.2f}"
            for side, own in ratios.items()
        )
        noise = [made(name, 16, "0.9").oracles[0].variance(1) for name in (rival, "n_gtr")]
        found += f"; a count's variance by formula, side 16 and epsilon 0.9: {noise[0] / noise[1]:.2f} times"
        holds = max(float(np.median(own)) for own in ratios.values()) >= PART * least
        yield _verdict(
            "document", f"N-GT-R is {words} times better than {rival} (at least {PART * least:g})", found, holds=holds
        )


def _best(rows: Sequence[Row]) -> Verdict:
    """GT-R against all others."""
    each = list(_settings(rows, "data", "epsilon", "side", "low"))
    lost: dict[str, int] = {}
    for one in each:
        best = min(one.values(), key=lambda row: row["relative_error"])
        if one["gtr"]["relative_error"] > best["relative_error"] + ERRORS * _spread(one["gtr"], best):
            lost[best["method"]] = lost.get(best["method"], 0) + 1
    count = len(each) - sum(lost.values())
    words = ", ".join(f"{name} is better in {number}" for name, number in sorted(lost.items()))
    found = f"in {count} of {len(each)} settings{'; ' + words if words else ''}"
    return _verdict(
        "document", f"GT-R is the best of all systems (within {ERRORS} standard errors)", found, holds=not lost
    )


def _spread(one: Row, other: Row) -> float:
    return float(np.hypot(one["standard_error"], other["standard_error"]))


def _example() -> Verdict:
    """The document's worked example, by least squares."""
    cells = consistent(Tree(4, 4), np.array([5.0, 2, 1, 1, 2]), [1.0, 1.0], nonnegative=False)
    holds = bool(np.allclose(cells, [1.8, 0.8, 0.8, 1.8])) and abs(cells.sum() - 5.2) < 1e-12
    claim = "the worked example (root 5, children 2, 1, 1, 2) has the root 5.2 and the children 1.8, 0.8, 0.8, 1.8"
    found = (
        f"root {cells.sum():g}, children {', '.join(f'{one:g}' for one in cells)}; the document's 3.9 is not their sum"
    )
    return _verdict("dpress", claim, found, holds=holds)


def _no_promise() -> Verdict:
    """PSDA promises less than the others."""
    claim = made("psda", 16, "1").claim
    return _verdict(
        "dpress",
        "PSDA hides a position only within its user's safe region: its errors stand beside stronger promises",
        f"proven between any two positions: {claim.proven}",
        holds=claim.proven is None,
    )


def _grid_matters(rows: Sequence[Row]) -> Verdict:
    """The side that the document leaves open."""
    own = [row for row in rows if row["experiment"] == "sides" and row["method"] == "gtr" and row["low"] >= SMALLEST]
    each: dict[tuple[Any, ...], dict[int, float]] = {}
    for row in own:
        each.setdefault((row["data"], row["epsilon"], row["low"]), {})[row["side"]] = row["relative_error"]
    ratios = [one[128] / min(one.values()) for one in each.values()]
    best = sorted({min(one, key=lambda side: one[side]) for one in each.values()})
    return _verdict(
        "dpress",
        "the grid matters: on 128 x 128 cells GT-R's error is at least 1.5 times that on its best grid",
        f"{min(ratios):.2f} to {max(ratios):.2f} times; the best side is {' or '.join(map(str, best))}",
        holds=min(ratios) >= WORSE,
    )


def _against_all(rows: Sequence[Row]) -> Iterator[Verdict]:
    """Our default against every published system at its better side."""
    ours = {_key(row): row for row in rows if row["experiment"] == "ours" and row["method"] == "gtr_top_down"}
    rivals: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        if row["experiment"] == "nine":
            rivals.setdefault(_key(row), []).append(row)
    for words, wanted in (("of the document's sizes", True), ("of 0.01 to 1 % of the area", False)):
        pairs = [
            (own, min(rivals[key], key=lambda row: row["relative_error"]))
            for key, own in ours.items()
            if (own["low"] >= SMALLEST) == wanted
        ]
        better = sum(
            own["relative_error"] <= rival["relative_error"] + ERRORS * _spread(own, rival) for own, rival in pairs
        )
        ratios = [own["relative_error"] / rival["relative_error"] for own, rival in pairs]
        yield _verdict(
            "dpress",
            f"gtr_top_down is no worse than the best of the systems on either grid for queries {words} "
            f"(within {ERRORS} standard errors)",
            f"in {better} of {len(pairs)} settings; its error is {min(ratios):.2f} to {max(ratios):.2f} times theirs, "
            f"{np.exp(np.log(ratios).mean()):.2f} in the mean",
            holds=better == len(pairs),
        )


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("data", "epsilon", "low"))
