"""A claim in words, and in figures: the losses, and given what they hold."""

from collections.abc import Mapping, Sequence
from typing import Any

from dpress.core.basics.claim import Claim
from dpress.core.basics.losses.any_loss import as_floats, describe


def words(claim: Claim) -> str:
    """Return the proven loss in words, and given what it holds.

    >>> from dpress.core.basics.claim import ROW
    >>> from dpress.core.basics.losses.pure import PureDP
    >>> loss = PureDP(epsilon=1)
    >>> words(Claim(published=loss, proven=loss, unit=ROW, basis="", given="the public totals of every state"))
    'epsilon = 1, given the public totals of every state'
    """
    return describe(claim.proven) + (f", given {claim.given}" if claim.given else "")


def figures(claim: Claim) -> dict[str, Any]:
    """Return the published and the proven loss as numbers by name, None without one; and given what, if anything."""
    losses = {"published": as_floats(claim.published), "proven": as_floats(claim.proven)}
    return losses | ({"given": claim.given} if claim.given else {})


def of_two_tables(tables: Sequence[Mapping[str, Any]], unit: Sequence[str]) -> str:
    """Return whom two tables that belong together protect, a sentence; empty where the rows are of one table.

    Args:
        tables: as a specification states them.
        unit: the columns that name whom the promise protects.
    """
    if not tables:
        return ""
    above, below = sorted(tables, key=lambda table: "of" in table)
    key = [above["key"]] if isinstance(above["key"], str) else above["key"]
    if {*key} == {*unit}:
        rows = f"its row of {above['name']} and all of its rows of {below['name']}"
        rows += f", of which the first {below['most']} count"
        return f"Protected is each of {above['name']} as a whole, by {' and '.join(key)}: {rows}, at once."
    return (
        f"Protected is each single one of {below['name']}, by {' and '.join(unit)}, which is less than a whole one of "
        f"{above['name']}: what the table of {above['name']} holds counts as public beside it."
    )


def chosen_rows(where: str, counted: str = "", whom: str = "") -> list[str]:
    """Return which rows of a table are counted, sentences; none where all are.

    Args:
        where: the public condition of which rows are; empty for all.
        counted: `Unit.counted`; empty for all.
        whom: `of_two_tables`, which says it of those; empty for those of one.
    """
    chosen = [f"Only rows of which `{where}` holds are counted."] if where else []
    kept = whom or (f"Counts are of {counted}." if counted else "")
    return chosen + ([kept] if kept else [])
