"""The catalogue: methods found by walking `mechanisms/`, kinds of release by `kinds/`; there is no registry to edit.

Methods and kinds of other packages (`core.methods.outside`) are beside them, where somebody names or lists them.
"""

import functools
import importlib
import pkgutil
import sys
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
from dpress.core.basics.method_names import OF_PACKAGE, class_name
from dpress.core.basics.near import meant
from dpress.core.methods import outside
from dpress.core.methods.card_index import Entry, kept
from dpress.core.methods.mechanism import Card

if TYPE_CHECKING:
    from dpress.release.room import Room

BESIDE = "_audit"  # files of audits, which name no method
AUTO = "auto"  # no method's name
DOCUMENTS = "documents"  # the folder of a family's methods that `auto` never takes
OTHER_KINDS = {
    **dict.fromkeys(("count", "counts", "frequency", "frequencies", "table"), "histogram"),
    **dict.fromkeys(("crosstab", "contingency", "tables", "cube"), "marginals"),
    **dict.fromkeys(("mean", "means", "sum", "sums", "average", "quantile", "median", "statistic"), "statistics"),
    **dict.fromkeys(("synthetic", "synthetic-data", "records", "synthesis"), "microdata"),
    **dict.fromkeys(("map", "heatmap", "grid", "location", "locations", "points"), "spatial"),
    **dict.fromkeys(("words", "text", "texts"), "strings"),
}
"""What other programs call kinds of releases."""
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
    """Return every file of `mechanisms` and where it lies; none is imported."""
    walked = _walked(dpress.mechanisms.__path__, dpress.mechanisms.__name__)
    return [info for info in walked if not info.name.endswith(BESIDE)]


def _walked(folders: Iterable[str], package: str) -> Iterator[pkgutil.ModuleInfo]:
    """Yield the files below the folders of a package; one that is imported may have further folders."""
    for info in pkgutil.iter_modules(folders, f"{package}."):
        if not info.ispkg:
            yield info
            continue
        inner = Path(getattr(info.module_finder, "path", ""), info.name.rpartition(".")[2])
        loaded = sys.modules.get(info.name)
        yield from _walked([str(inner)] if loaded is None else loaded.__path__, info.name)


@functools.cache
def _files() -> dict[str, str]:
    """Return the module of every file of a method, by the file's name."""
    return {info.name.rpartition(".")[2]: info.name for info in _modules()}


def find(name: str) -> type:
    """Return the class that a design names: that of the file of this name, in CamelCase (`krr.Krr`).

    Only this file is imported, so that a device needs no other method. That of another package is named with it.

    Raises:
        NotSupported: there is none, or that of another package cannot be used.
        SchemaMismatch: there is no such package, or not with this method.
    """
    if OF_PACKAGE in name and (source := outside.named(outside.METHODS, name)) is not None:
        return outside.method(source)
    if name not in _files():
        raise outside.missing("method", name)
    method: type = getattr(importlib.import_module(_files()[name]), class_name(name))
    return method


@functools.cache
def _entries() -> dict[str, Entry]:
    folders = sorted({str(getattr(info.module_finder, "path", "")) for info in _modules()} - {""})
    made = kept(Path(__file__).parent, folders, lambda: [_entry(card) for card in _every_card()])
    return {entry.name: entry for entry in made}


@functools.cache
def _outside() -> tuple[Entry, ...]:
    return outside.entries(_entry, frozenset((*_files(), AUTO)))


def entries() -> dict[str, Entry]:
    """Return what every method's card says, by name in alphabetical order; kept, so that no method is imported."""
    usable = {entry.name: entry for entry in _outside() if not entry.fault}
    return dict(sorted((_entries() | usable).items()))


def faults() -> list[str]:
    """Return why methods and kinds of other packages cannot be used, a line each."""
    return [entry.fault for entry in _outside() if entry.fault] + _outside_kinds()[1]


def has(name: str) -> bool:
    """Say whether there is a method of a name, ours or declared by another package; none is imported."""
    return name in _entries() or outside.named(outside.METHODS, name) is not None


@functools.cache
def cards(making: str = "", model: str = "", *, named: str = AUTO) -> dict[str, Card]:
    """Return the cards of our methods, and of another package's that is named, by name, in alphabetical order.

    Args:
        making: what they make: "strategy", "oracle", "protocol", "spatial" or "synthesizer"; all where it is empty.
        model: "central" or "local"; both where it is empty.
        named: the method that somebody named: one of another package is offered to nobody else.

    Raises:
        NotSupported: that of another package cannot be used.
    """
    chosen = {name for name, entry in _entries().items() if making in ("", *entry.makes) and model in ("", entry.model)}
    if named not in (AUTO, *_files()) and outside.named(outside.METHODS, named) is not None:
        of_named = _entry(card(named))
        chosen |= {named} if making in ("", *of_named.makes) and model in ("", of_named.model) else set()
    return {name: card(name) for name in sorted(chosen)}


def _every_card() -> list[Card]:
    return sorted(_loaded(_files().values()), key=lambda each: each.name)


def _entry(of: Card) -> Entry:
    published, proven = claims(of)
    makes = tuple(what for what in MAKES if getattr(of, what) is not None)
    return Entry(
        name=of.name, family=of.family, model=of.model, paper=of.paper,
        published=published, proven=proven, makes=makes, competes=_competes(of.name),
    )  # fmt: skip


def _competes(name: str) -> bool:
    """Say whether `auto` may choose a method: one of ours that stands in no folder of documents."""
    return name in _files() and DOCUMENTS not in _files()[name].split(".")


@functools.cache
def _kinds() -> dict[str, Kind]:
    """Return the card of every room of `kinds`, by its name, in alphabetical order."""
    package = importlib.import_module(ROOMS)
    names = sorted(info.name for info in pkgutil.iter_modules(package.__path__) if info.ispkg)
    return {name: importlib.import_module(f"{ROOMS}.{name}.kind").KIND for name in names}


@functools.cache
def _outside_kinds() -> tuple[dict[str, Kind], list[str]]:
    """Return the kinds of other packages by their names with the package, and why others cannot be used."""
    cards: dict[str, Kind] = {}
    faults, sources = list[str](), outside.sources(outside.KINDS)
    taken = {name for card in _kinds().values() for name in card.names} if sources else set()
    for source in sources:
        try:
            card = outside.kind(source)
        except NotSupported as refusal:
            faults.append(str(refusal))
            continue
        if again := taken.intersection(card.names):
            faults.append(f"{source.name} of {source.origin}: there is a kind {min(again)!r} already")
            continue
        cards[card.name] = card
        taken |= set(card.names)
    return cards, faults


def kinds() -> dict[str, Kind]:
    """Return the card of every kind, ours and those of other packages, by its name."""
    return _kinds() | _outside_kinds()[0]


def kind(name: str) -> Kind:
    """Return the card of the room that serves a kind of a specification.

    Raises:
        NotSupported: there is none.
    """
    for of in (_kinds, kinds):  # other packages are asked where it is none of ours
        for card in of().values():
            if name in card.names:
                return card
    names = sorted(name for card in kinds().values() for name in card.names)
    why = "".join(f"; {fault}" for fault in _outside_kinds()[1])
    called = OTHER_KINDS.get(name.lower(), "")
    hint = f"; did you mean {called!r}?" if called in names else meant(name, names)
    raise NotSupported(f"$.release.kind: expected one of {', '.join(names)}, got {name!r}{hint}{why}")


def room(name: str) -> "Room":
    """Return a kind of release, by the name of its folder; that of another package is named with it.

    Raises:
        NotSupported: there is none.
        SchemaMismatch: there is no such package, or not with this kind.
    """
    of = kinds() if OF_PACKAGE in name else _kinds()
    if name not in of:
        raise outside.missing("kind of release", name)
    made: Room = importlib.import_module(ROOM).Room(of[name])
    return made


def wished() -> list[Wished]:
    """Return the kinds as somebody wishes for them who writes no specifications, the most usual first."""
    return sorted((wish for card in kinds().values() for wish in card.wished), key=lambda wish: wish.place)


def where(ability: str) -> str:
    """Return the kinds, as a specification writes them, whose room has an ability: a flag of `Kind`."""
    return " or ".join(f'"{name}"' for kind in kinds().values() if getattr(kind, ability) for name in kind.names)


def part(name: str, module: str) -> ModuleType:
    """Return a module of a room, such as its `answers`."""
    source = outside.named(outside.KINDS, name) if OF_PACKAGE in name else None
    return importlib.import_module(f"{ROOMS}.{name}.{module}" if source is None else f"{source.module}.{module}")


def card(name: str) -> Card:
    """Return the card of that name; a method's file bears its name, so that no other method is loaded.

    Raises:
        NotSupported: there is none, or that of another package cannot be used.
    """
    if name not in _files() and (source := outside.named(outside.METHODS, name)) is not None:
        return outside.card(source)
    for loaded in _loaded([_files()[name]] if name in _files() else []):
        if loaded.name == name:
            return loaded
    from dpress.core.methods.other_names import hint_of  # noqa: PLC0415  # seldom needed

    names = entries()
    raise NotSupported(f"there is no method {name!r}; `dpress list` shows all {len(names)}{hint_of(name, names)}")


def _loaded(modules: Iterable[str]) -> Iterator[Card]:
    """Load modules and yield the cards that they hold."""
    for name in modules:
        if (card := getattr(importlib.import_module(name), "CARD", None)) is not None:
            yield card


def claims(method: Card) -> tuple[str | None, str | None]:
    """Return what the method's paper publishes and what is proven, e.g. "epsilon, rho"; None where it is nothing.

    Both are read off the claims of tiny instances under every loss, never written beside the code.
    """
    pairs = [(kind, claim) for kind, loss in LOSSES.items() if (claim := _claim(method, loss)) is not None]
    published = ", ".join(kind for kind, claim in pairs if claim.published is not None)
    proven = ", ".join(kind for kind, claim in pairs if claim.proven is not None)
    return published or None, proven or None


def _claim(method: Card, loss: Loss) -> Claim | None:
    try:
        claim: Claim = method.example(loss, ROW).claim
    except NotSupported:
        return None
    return claim
