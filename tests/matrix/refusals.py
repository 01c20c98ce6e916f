"""Cases that break one rule: refused by the specification alone, in one line, before anything is charged or written."""

from collections.abc import Iterator
from pathlib import Path

from tests.matrix import runs, tables
from tests.matrix.array import chosen, values_in
from tests.matrix.axes import AXES, ROOMS, Case, kind_of
from tests.matrix.cases import OF_THE_COLUMN
from tests.matrix.rules import RULES, Rule

import dpress
from dpress.core.basics import rng

TRIES = 2_000_000


def breaking(rule: Rule, source: rng.Generator) -> Iterator[Case]:
    """Yield cases that break one rule and no other."""
    others = [one for one in RULES if one is not rule and not one.slow]
    alike = {room: values_in(room) for room in ROOMS}
    for _ in range(TRIES):
        values, wide = alike[chosen(ROOMS, source)], chosen([axis for axis in rule.axes if axis != "room"], source)
        told = {axis: chosen(AXES[axis] if axis == wide else values[axis], source) for axis in ("room", *rule.axes)}
        if rule.holds(told):
            continue  # before the other axes are drawn, which most of the time goes into
        case = {axis: chosen(own, source) for axis, own in values.items()} | told
        if "where" not in rule.axes:
            case["where"] = "none"  # else hardly any case of a narrow rule is left
        unused = kind_of(case) == "statistics" and case["grouped"] == "no" and case["asked"] not in OF_THE_COLUMN
        if not unused and not rule.holds(case) and all(one.holds(case) for one in others):
            yield case


def refusal(case: Case, folder: Path) -> list[str]:
    """Return what is wrong with how a case is refused.

    Args:
        case: that must be.
        folder: a new one.
    """
    try:
        runs.planned(runs.prepared(case, folder / "plan"))
    except ValueError as error:
        return [*_one_line(str(error)), *_with_rows(case, folder / "run", str(error))]
    except Exception as error:  # noqa: BLE001  # no refusal, but a fault
        return [f"{type(error).__name__}: {error}"]
    return ["the specification is not refused"]


def _one_line(message: str) -> list[str]:
    return [] if message and "\n" not in message else [f"a message of {message.count(chr(10)) + 1} lines"]


def _with_rows(case: Case, folder: Path, message: str) -> list[str]:
    """Return what is wrong where the rows are there, too, and a ledger."""
    folder.mkdir()
    ledger = dpress.Ledger.create(folder / "budget.db", limit=dpress.PureDP(epsilon=100), unit=dpress.Unit())
    data = tables.held(case, tables.rows_of(case), folder / "rows")
    try:
        _act(case, data, ledger, folder)
    except ValueError as error:
        same = [] if str(error) == message else [f"with rows it is refused otherwise: {error}"]
        charged = ["it was charged"] if ledger.summary().entries else []
        return [*same, *charged, *(["something was written"] if (folder / "out").exists() else [])]
    return ["with rows it is not refused"]


def _act(case: Case, data: object, ledger: dpress.Ledger, folder: Path) -> None:
    ready = runs.prepared(case, folder)
    if runs.of_devices(case):
        dpress.perturb(ready.spec, data, out=folder / "out", **ready.options)
    elif case["periods"] != "none":
        dpress.publish_period(ready.spec, "2024-01", data, out=folder / "out", ledger=ledger)
    else:
        dpress.publish(ready.spec, data, out=folder / "out", ledger=ledger, **ready.options)
