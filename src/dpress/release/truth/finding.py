"""What a kind finds in rows that are checked before the budget is spent; exact, so never private."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from dpress.attributes.attribute import Tabular
from dpress.core.methods.mechanism import Mechanism
from dpress.data.add_up import Progress
from dpress.data.specification.spec import Spec
from dpress.document.design import Design
from dpress.query.designs import mechanism_of
from dpress.release.plan.plan import plan


@dataclass(frozen=True, kw_only=True)
class CheckedRows:
    """Rows that are checked, and what they are checked for.

    Args:
        spec: what was asked for.
        planned: its design; None where it is still to be planned.
        source: the rows, as `open_source` returns them.
        progress: called with the number of rows done so far.
    """

    spec: Spec
    planned: Design | None
    source: Any
    progress: Progress | None

    @cached_property
    def design(self) -> Design:
        """What would be published, or asked; planned only where a kind needs it."""
        return plan(self.spec).design if self.planned is None else self.planned

    @cached_property
    def mechanism(self) -> Mechanism:
        """The mechanism of the design."""
        return mechanism_of(self.design)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found.

    Args:
        figures: for scripts: a dataclass, or several in a tuple.
        lines: the same in words, a paragraph each.
        refused: the attributes for which the table would be refused.
        unlisted: the share of people, by attribute, who have a value without a cell.
        faults: what looks like a mistake, a sentence each.
    """

    figures: Any
    lines: tuple[list[str], ...]
    refused: tuple[str, ...] = ()
    unlisted: Mapping[str, float] = field(default_factory=dict)
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Checking:
    """What a kind looks for in rows: `CHECKING` of its `check.py`, of kinds whose card names `findings`.

    Args:
        findings: returns what it finds, by the names of the card; without those that do not apply.
        beside: returns the attributes that are read beside those of the specification.
    """

    findings: Callable[[CheckedRows], dict[str, Finding]]
    beside: Callable[[Spec], tuple[Tabular, ...]] = lambda _: ()


def share(part: int, whole: int) -> str:
    """Return a share in percent."""
    return f"{part / max(whole, 1):.1%}"
