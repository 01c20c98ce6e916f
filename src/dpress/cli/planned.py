"""A specification's plan for a command: a refusal has the line of the field that it names."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from dpress.data.specification.spec import Spec
from dpress.document.design import Design
from dpress.release.plan.plan import Plan, plan
from dpress.release.plan.plan_for_error import plan_for_error


def planned(design: Spec | Design, path: str) -> Plan | Design:
    """Return the plan of a specification; a design as it is. No row is read.

    Args:
        design: what the file holds.
        path: of the file.

    Raises:
        NotSupported, ValueError: see `plan`.
    """
    return design if isinstance(design, Design) else plan_of(design, path)


def of_periods(design: Spec | Design) -> Spec:
    """Return a specification, of which `--period` names a period.

    Raises:
        ValueError: it is a design.
    """
    if isinstance(design, Design):
        raise ValueError("--period: expected a specification with [periods]; a design is of one release")
    return design


def plan_of(spec: Spec, path: str, error: float | None = None) -> Plan:
    """Return the plan of a specification that was read from a file, or that for a wished error.

    Raises:
        NotSupported, ValueError: see `plan`.
    """
    with located_in(path):
        return plan(spec) if error is None else plan_for_error(spec, error)


@contextlib.contextmanager
def located_in(path: str) -> Iterator[None]:
    """Give a refusal that names a field of a specification the file and its line there.

    Raises:
        ValueError: what was refused, of the same type.
    """
    try:
        yield
    except ValueError as fault:
        from dpress.data.specification.spec_lines import located  # noqa: PLC0415  # only a fault needs it

        placed = located(str(fault), Path(path).read_text(encoding="utf-8-sig"))
        if placed == str(fault):  # no field's: who raised it decides whether it may be shown
            raise
        raise type(fault)(f"{path}: {placed}") from None
