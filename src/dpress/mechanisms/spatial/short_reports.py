"""Which oracle a level of a quadtree is asked by: the best one whose report is short, by the number of nodes."""

from collections.abc import Callable

from dpress.core.claim import PureDP
from dpress.core.oracle import Oracle
from dpress.mechanisms.oracle.hadamard import Hadamard
from dpress.mechanisms.oracle.olh import Olh
from dpress.mechanisms.oracle.subset_selection import SubsetSelection

Steps = tuple[tuple[int, str], ...]  # up to so many values, the oracle of this name; rising
STEPS: Steps = ((1 << 10, "subset_selection"), (1 << 16, "olh"), (1 << 30, "hadamard"))
"""A bit for every value up to 128 bytes; hashes while a collector can try them all; then one coefficient."""
KNOWN: dict[str, Callable[..., Oracle]] = {"subset_selection": SubsetSelection, "olh": Olh, "hadamard": Hadamard}


def short_oracle(size: int, loss: PureDP, steps: Steps = STEPS) -> Oracle:
    """Return the oracle over so many values: the first of the steps that reach them.

    Raises:
        ValueError: none does.

    >>> type(short_oracle(4096, PureDP(epsilon=1))).__name__
    'Olh'
    """
    for largest, name in steps:
        if size <= largest:
            return KNOWN[name](size=size, loss=loss)
    raise ValueError(f"no oracle is named for {size:,} values")
