"""The catalogue: every method found by walking `mechanisms/`; there is no registry to edit."""

import functools
import importlib
import pkgutil
from collections.abc import Iterable, Iterator

import dpress.mechanisms
from dpress.core.claim import ROW, ZCDP, Claim, PureDP
from dpress.core.errors import NotSupported
from dpress.core.mechanism import Card

LOSSES: dict[str, PureDP | ZCDP] = {"epsilon": PureDP(epsilon=1), "rho": ZCDP(rho="0.5")}


@functools.cache
def cards() -> dict[str, Card]:
    """Return every method's card by name, in alphabetical order."""
    return {card.name: card for card in sorted(_found(_modules()), key=lambda card: card.name)}


def card(name: str) -> Card:
    """Return the card of that name; a method's file bears its name, so that no other method is loaded.

    Raises:
        NotSupported: there is none.
    """
    for found in _found(module for module in _modules() if module.rpartition(".")[2] == name):
        if found.name == name:
            return found
    raise NotSupported(f"there is no method {name!r}; the methods are {', '.join(cards())}")


@functools.cache
def _modules() -> tuple[str, ...]:
    """Return the names of all files of `mechanisms/`, none of them loaded."""
    package = dpress.mechanisms
    found = pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    return tuple(info.name for info in found if not info.ispkg)


def _found(modules: Iterable[str]) -> Iterator[Card]:
    """Load modules and yield the cards that they hold."""
    for name in modules:
        if (card := getattr(importlib.import_module(name), "CARD", None)) is not None:
            yield card


def claims(method: Card) -> tuple[str | None, str | None]:
    """Return what the method's paper publishes and what is proven, e.g. "epsilon, rho"; None where it is nothing.

    Both are read off the claims of tiny instances under every loss, never written beside the code.
    """
    found = [(kind, claim) for kind, loss in LOSSES.items() if (claim := _claim(method, loss)) is not None]
    published = ", ".join(kind for kind, claim in found if claim.published is not None)
    proven = ", ".join(kind for kind, claim in found if claim.proven is not None)
    return published or None, proven or None


def _claim(method: Card, loss: PureDP | ZCDP) -> Claim | None:
    try:
        return method.example(loss, ROW).claim
    except NotSupported:
        return None
