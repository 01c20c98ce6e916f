"""What becomes of a value without a cell of its own, where the specification names no cell for it."""

from typing import Literal

Outside = Literal["clamp", "drop", "reject"]

REJECT = "reject"
DROP = "drop"

DROPPED = -1  # the code of a value whose row is left out
OUTSIDE = -2  # that of a value without a cell, before the specification settles it
MISSING = -3  # that of a missing one


def unnamed(policy: str, name: str, values: tuple[str, ...] = ()) -> str:
    """Return a policy, or in the place of a cell's name one that says nothing and is none of the values."""
    if policy in (REJECT, DROP):
        return policy
    while name in values:
        name += "_"
    return name
