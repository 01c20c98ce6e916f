"""The catalogue: methods found by walking `mechanisms/`, kinds of release by `kinds/`; there is no registry to edit."""

import functools
import importlib
import pkgutil
from types import ModuleType

import dpress.mechanisms
from dpress.core.claim import ROW, ZCDP, Claim, PureDP
from dpress.core.errors import NotSupported
from dpress.core.kind import Kind
from dpress.core.mechanism import Card

ROOMS = "dpress.kinds"  # imported by name: a room stands above the catalogue
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


@functools.cache
def kinds() -> dict[str, Kind]:
    """Return every kind of release by the name of its room, in alphabetical order."""
    rooms = pkgutil.iter_modules(importlib.import_module(ROOMS).__path__)
    found = [importlib.import_module(f"{ROOMS}.{room.name}.kind").KIND for room in rooms if room.ispkg]
    return {kind.name: kind for kind in sorted(found, key=lambda kind: kind.name)}


def room(spec_kind: str) -> Kind:
    """Return the kind of release that a specification asks for with this word.

    Raises:
        NotSupported: there is none.
    """
    for kind in kinds().values():
        if spec_kind in kind.names:
            return kind
    raise NotSupported(f"there is no kind {spec_kind!r}; the kinds are {', '.join(sorted(_spec_kinds()))}")


def part(spec_kind: str, name: str) -> ModuleType:
    """Return a module of the room that serves a kind, e.g. `page`.

    Raises:
        NotSupported: there is no such kind.
    """
    return importlib.import_module(f"{ROOMS}.{room(spec_kind).name}.{name}")


def _spec_kinds() -> list[str]:
    return [name for kind in kinds().values() for name in kind.names]


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
