"""Ours beside the published systems on the document's axes, measured the same way; a line wherever ours loses."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from claims import Band, Claim, at_least, at_most
from quantities import Quantity, Row, mean, ratio, settings

DATA = ("gowalla",)
LANDMARK = "Landmark's points are not public: Gowalla's check-ins within the 48 states stand in"
COMMON = "on one grid for all, which is not the document's experiment"
DOCUMENTS = (0.05, 0.10, 0.15, 0.20)  # the smallest areas of its queries; ours go below
SMALL = 0.0001
SYSTEMS = ("krr", "rappor", "oue", "n_psda", "n_gtr", "qt_krr", "qt_rappor", "psda", "gtr")
OURS = ("gtr_top_down", "dam", "ahead")
ROUNDS = {"ahead": "ahead asks in rounds, and its answers are simulated"}
GRIDS = (16, 32)
NO_MORE = at_most(1)


def of_ours() -> list[Claim]:
    """Return every claim about ours, and those of the document's methods that it does not make."""
    return [*_ours(), *_same(), *_grids()]


def _ours() -> list[Claim]:
    """Ours against every rival; where a rival is better the verdict says so."""
    out = []
    for own in OURS:
        note = ROUNDS.get(own, "")
        for at in ("best domain", "finest domain"):
            for sizes, low in (("the document's sizes", DOCUMENTS), ("0.01 to 1 % of the area", SMALL)):
                key = f"{own}_{at.split()[0]}_{'small' if low == SMALL else 'large'}"
                words = f"{own} errs no more than any rival at its {at}, queries of {sizes}"
                quantity = _times(own, at=at, low=low)
                out.append(_own(key, words, quantity, axis="rival", note=note))
        words = f"{own} errs no more than the best of the published systems, each at its best domain, in every setting"
        out.append(_own(f"{own}_settings", words, _largest(own), axis="size", note=note))
    words = "GT-R errs less than a map without data, everybody spread evenly"
    even = _times("gtr", at="best domain", rival="uniform")
    out.append(_own("gtr_uniform_epsilon", f"{words}; by epsilon", even, axis="epsilon"))
    for name, budgets in (("large", ("0.5", "0.9")), ("small", ("0.1", "0.3"))):
        even = _times("gtr", at="best domain", rival="uniform", epsilon=budgets)
        by = f"{words}; by size, epsilon {' and '.join(budgets)}"
        out.append(_own(f"gtr_uniform_size_{name}", by, even, axis="size"))
    return out


def _same() -> list[Claim]:
    """The comparison on one grid, which the document does not make."""
    quantity = _times("gtr", at="common grid", low=DOCUMENTS)
    words = f"GT-R errs no more than a rival {COMMON}; the grid of 16 a side"
    return [_own("common_grid", words, quantity, axis="rival")]


def _own(
    key: str, words: str, quantity: Quantity, *, axis: str, band: Band = NO_MORE, violation: float = 2.0, note: str = ""
) -> Claim:
    return Claim(
        key=key, whose="dpress", words=words, place="our methods", quantity=quantity, band=band, violation=violation,
        axis=axis, data=DATA, note="; ".join(filter(None, (LANDMARK, note))),
    )  # fmt: skip


def _times(own: str, **where: Any) -> Quantity:
    """How many times a rival's error one of ours has: the geometric mean over settings."""

    def times(rows: Sequence[Row]) -> float:
        each = settings(rows, ("data", "epsilon", "low", "rival")).values()
        logs = [math.log(mean(one, "own_error") / mean(one, "rival_error")) for one in each]
        if not logs:
            raise ValueError("no settings")
        return math.exp(sum(logs) / len(logs))

    place = {"data": "x", "epsilon": "x", "low": "x", "rival": "x", "rival_error": 1.0}
    fixed = {name: value[0] if isinstance(value, tuple) else value for name, value in where.items()}
    return Quantity(
        words=f"relative error of {own} over the rival's, mean over settings",
        table="against",
        where={"own": own, **where},
        of=times,
        example=lambda value: [place | fixed | {"own_error": value}],
    )


def _largest(own: str) -> Quantity:
    """How many times the best rival's error one of ours has in the setting where it does worst."""

    def times(rows: Sequence[Row]) -> float:
        found = []
        for one in settings(rows, ("data", "epsilon", "low")).values():
            rivals = [mean(same, "rival_error") for same in settings(one, ("rival",)).values()]
            found.append(mean(one, "own_error") / min(rivals))
        if not found:
            raise ValueError("no settings")
        return max(found)

    place = {"data": "x", "epsilon": "x", "low": "x", "rival": SYSTEMS[0], "rival_error": 1.0}
    return Quantity(
        words=f"relative error of {own} over that of the best of the others, the largest of all settings",
        table="against",
        where={"own": own, "at": "best domain", "rival": SYSTEMS},
        of=times,
        example=lambda value: [{**place, "own_error": value}],
    )


def _grids() -> list[Claim]:
    """The side that the document leaves open, and our tree on the same grid as the document's."""
    better = ratio("gtr_top_down", "gtr", "relative_error", by=("data", "epsilon", "low"), experiment="sides")
    words = "GT-R errs at least 1.5 times more on 128 x 128 cells than on 16 x 16"
    return [
        _own("grid_matters", words, _sides(), axis="size", band=at_least(1.5), violation=1.0),
        _own("top_down_sides", "gtr_top_down errs no more than GT-R on the same grid", better, axis="side"),
    ]


def _sides() -> Quantity:
    def times(rows: Sequence[Row]) -> float:
        logs = []
        for one in settings(rows, ("data", "epsilon", "low")).values():
            pair = {side: mean(own, "relative_error") for (side,), own in settings(one, ("side",)).items()}
            logs.append(math.log(pair[128] / pair[16]))
        return math.exp(float(np.mean(logs)))

    place = {"data": "x", "epsilon": "x", "low": "x"}
    return Quantity(
        words="relative error of GT-R at 128 a side over that at 16",
        table="errors",
        where={"experiment": "sides", "method": "gtr", "side": (16, 128)},
        of=times,
        example=lambda value: [
            place | {"side": 16, "relative_error": 1.0},
            place | {"side": 128, "relative_error": value},
        ],
    )
