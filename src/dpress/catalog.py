"""The catalogue: every method found by walking `mechanisms/`; there is no registry to edit."""

import functools
import importlib
import pkgutil

import dpress.mechanisms
from dpress.core.claim import ZCDP, Loss, PureDP, Relation, Unit
from dpress.core.errors import NotSupported
from dpress.core.mechanism import Card

LOSSES: dict[str, PureDP | ZCDP] = {"epsilon": PureDP(epsilon=1), "rho": ZCDP(rho="0.5")}


@functools.cache
def cards() -> dict[str, Card]:
    """Return every method's card by name, in alphabetical order."""
    package = dpress.mechanisms
    names = [info.name for info in pkgutil.walk_packages(package.__path__, package.__name__ + ".") if not info.ispkg]
    found = [card for name in names if (card := getattr(importlib.import_module(name), "CARD", None)) is not None]
    return {card.name: card for card in sorted(found, key=lambda card: card.name)}


def card(name: str) -> Card:
    """Return the card of that name.

    Raises:
        NotSupported: there is none.
    """
    if name not in cards():
        raise NotSupported(f"there is no method {name!r}; the methods are {', '.join(cards())}")
    return cards()[name]


def kinds(method: Card) -> dict[str, tuple[bool, bool]]:
    """Return for every kind of loss the method can be run under whether it is published and whether it is proven."""
    found = {}
    for kind, loss in LOSSES.items():
        claim = _claim(method, loss)
        if claim is not None:
            found[kind] = claim
    return found


def _claim(method: Card, loss: Loss) -> tuple[bool, bool] | None:
    try:
        claim = method.example(loss, Unit(relation=Relation.ADD_REMOVE)).claim
    except NotSupported:
        return None
    return claim.published is not None, claim.proven is not None
