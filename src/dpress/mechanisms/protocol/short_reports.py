"""The best oracle whose report is short, by the number of values: for every level of a tree."""

import importlib

from dpress.core.basics.losses.pure import PureDP
from dpress.core.methods import outside
from dpress.core.methods.mechanism import Card
from dpress.core.reports.oracle import Oracle

Steps = tuple[tuple[int, str], ...]  # up to so many values, the oracle of this name; rising
STEPS: Steps = ((1 << 10, "subset_selection"), (1 << 16, "olh"), (1 << 30, "hadamard"))
"""A bit for every value up to 128 bytes; hashes while a collector can try them all; then one coefficient."""


def steps_of(oracle: str | None) -> Steps:
    """Return the steps that ask every level by the oracle of this name; those that are best where none is named."""
    return STEPS if oracle is None else ((1 << 31, oracle),)


def short_oracle(size: int, loss: PureDP, steps: Steps = STEPS) -> Oracle:
    """Return the oracle over so many values: the first of the steps that reach them.

    Raises:
        ValueError: none does, or there is no such oracle, or it does not serve so many values.

    >>> type(short_oracle(4096, PureDP(epsilon=1))).__name__
    'Olh'
    """
    for largest, name in steps:
        if size <= largest:
            oracle = _card(name).oracle
            made = oracle(size, loss) if oracle is not None else None
            if made is None:
                raise ValueError(f"{name} does not serve {size:,} values")
            return made
    raise ValueError(f"no oracle is named for {size:,} values")


def _card(name: str) -> Card:
    """Return the card of the oracle of this name, which is that of its file, or of another package."""
    try:
        card: Card = importlib.import_module(f"dpress.mechanisms.oracle.{name}").CARD
    except (ImportError, AttributeError, ValueError):
        if (source := outside.named(outside.METHODS, name)) is not None:
            return outside.card(source)
        raise ValueError(f"there is no oracle {name!r}") from None
    return card
