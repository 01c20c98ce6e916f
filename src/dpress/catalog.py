"""The catalogue: methods found by walking `mechanisms/`, kinds of release by `kinds/`; there is no registry to edit."""

import functools
import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import dpress.mechanisms
from dpress.core.basics.claim import ROW, Claim
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.kind import Kind, Wished
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.basics.near import meant
from dpress.core.basics.plain import class_name
from dpress.core.methods.card_index import Entry, kept
from dpress.core.methods.mechanism import Card

if TYPE_CHECKING:
    from dpress.release.room import Room

BESIDE = "_audit"  # files of audits, which name no method
ROOMS = "dpress.kinds"  # imported by name: a room stands above the catalogue
ROOM = "dpress.release.room"  # the same
MAKES = ("strategy", "oracle", "protocol", "spatial", "synthesizer")
LOSSES: dict[str, Loss] = {
    "epsilon": PureDP(epsilon=1),
    "rho": ZCDP(rho="0.5"),
    "epsilon and delta": ApproxDP(epsilon=1, delta="1e-6"),
}


@functools.cache
def _modules() -> list[pkgutil.ModuleInfo]:
    """Return every file of `mechanisms` and where it lies; nothing but their packages is imported."""
    package = dpress.mechanisms
    walked = pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    return [info for info in walked if not info.ispkg and not info.name.endswith(BESIDE)]


@functools.cache
def _files() -> dict[str, str]:
    """Return the module of every file of a method, by the file's name."""
    return {info.name.rpartition(".")[2]: info.name for info in _modules()}


def find(name: str) -> type:
    """Return the class that a design names: that of the file of this name, in CamelCase (`krr.Krr`).

    Only this file is imported, so that a device needs no other method.

    Raises:
        NotSupported: there is none.
    """
    if name not in _files():
        raise NotSupported(f"there is no method {name!r} in this version")
    found: type = getattr(importlib.import_module(_files()[name]), class_name(name))
    return found


@functools.cache
def entries() -> dict[str, Entry]:
    """Return what every method's card says, by name in alphabetical order; kept, so that no method is imported."""
    folders = sorted({str(getattr(info.module_finder, "path", "")) for info in _modules()} - {""})
    made = kept(Path(__file__).parent, folders, lambda: [_entry(card) for card in _every_card()])
    return {entry.name: entry for entry in made}


@functools.cache
def cards(making: str = "", model: str = "") -> dict[str, Card]:
    """Return the cards of methods by name, in alphabetical order.

    Args:
        making: what they make: "strategy", "oracle", "protocol", "spatial" or "synthesizer"; all where it is empty.
        model: "central" or "local"; both where it is empty.
    """
    chosen = [name for name, entry in entries().items() if making in ("", *entry.makes) and model in ("", entry.model)]
    return {name: card(name) for name in chosen}


def _every_card() -> list[Card]:
    return sorted(_loaded(_files().values()), key=lambda each: each.name)


def _entry(of: Card) -> Entry:
    published, proven = claims(of)
    makes = tuple(what for what in MAKES if getattr(of, what) is not None)
    return Entry(
        name=of.name, family=of.family, model=of.model, paper=of.paper,
        published=published, proven=proven, makes=makes,
    )  # fmt: skip


@functools.cache
def kinds() -> dict[str, Kind]:
    """Return the card of every room of `kinds`, by its name, in alphabetical order."""
    package = importlib.import_module(ROOMS)
    names = sorted(info.name for info in pkgutil.iter_modules(package.__path__) if info.ispkg)
    return {name: importlib.import_module(f"{ROOMS}.{name}.kind").KIND for name in names}


def kind(name: str) -> Kind:
    """Return the card of the room that serves a kind of a specification.

    Raises:
        NotSupported: there is none.
    """
    for card in kinds().values():
        if name in card.names:
            return card
    names = sorted(name for card in kinds().values() for name in card.names)
    raise NotSupported(f"$.release.kind: expected one of {', '.join(names)}, got {name!r}{meant(name, names)}")


def room(name: str) -> "Room":
    """Return a kind of release, by the name of its folder.

    Raises:
        NotSupported: there is none.
    """
    if name not in kinds():
        raise NotSupported(f"there is no kind of release {name!r} in this version")
    made: Room = importlib.import_module(ROOM).Room(kinds()[name])
    return made


def wished() -> list[Wished]:
    """Return the kinds as somebody wishes for them who writes no specifications, the most usual first."""
    return sorted((wish for card in kinds().values() for wish in card.wished), key=lambda wish: wish.place)


def where(ability: str) -> str:
    """Return the kinds, as a specification writes them, whose room has an ability: a flag of `Kind`."""
    return " or ".join(f'"{name}"' for one in kinds().values() if getattr(one, ability) for name in one.names)


def part(name: str, module: str) -> ModuleType:
    """Return a module of a room, such as its `answers`."""
    return importlib.import_module(f"{ROOMS}.{name}.{module}")


def card(name: str) -> Card:
    """Return the card of that name; a method's file bears its name, so that no other method is loaded.

    Raises:
        NotSupported: there is none.
    """
    for loaded in _loaded([_files()[name]] if name in _files() else []):
        if loaded.name == name:
            return loaded
    raise NotSupported(f"there is no method {name!r}; the methods are {', '.join(entries())}{meant(name, entries())}")


def _loaded(modules: Iterable[str]) -> Iterator[Card]:
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


def _claim(method: Card, loss: Loss) -> Claim | None:
    try:
        claim: Claim = method.example(loss, ROW).claim
    except NotSupported:
        return None
    return claim
