"""A claim in words, and in figures: the losses, and given what they hold."""

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


def chosen_rows(where: str, counted: str = "") -> list[str]:
    """Return which rows of a table are counted, sentences; none where all are.

    Args:
        where: the public condition of which rows are; empty for all.
        counted: `Unit.counted`; empty for all.
    """
    chosen = [f"Only rows of which `{where}` holds are counted."] if where else []
    return chosen + ([f"Counts are of {counted}."] if counted else [])
