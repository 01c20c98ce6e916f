"""Methods and kinds of other packages: entry points `dpress.methods` and `dpress.kinds`, and the files of a folder.

entry points, folder -> a `Source` by name -> its card, its class or its kind, or one line that says why there is none.

Nothing is imported before it is named or listed. A module keeps its name, so that a document states which package a
method is of (`plain.method_of`): `acme:toy_wavelet`. Where no package declares any, nothing but `sys.path` is read.
"""

import contextlib
import functools
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.core.basics.kind import Kind
from dpress.core.basics.method_names import OF_PACKAGE, class_name
from dpress.core.methods.card_index import Entry, kept
from dpress.core.methods.mechanism import Card

METHODS, KINDS = "dpress.methods", "dpress.kinds"  # groups of entry points
FOLDER = "dpress_methods"  # the package whose modules are the files of folders that somebody named
LONGEST = 200  # letters of a reason
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a method or a kind of another package is.

    Args:
        name: of the method or the kind.
        module: that holds the card; of a kind the package.
        origin: what people call where it comes from: a package, or a folder.
    """

    name: str
    module: str
    origin: str

    @property
    def package(self) -> str:
        """The package, as documents state it."""
        return self.module.partition(".")[0]

    @property
    def qualified(self) -> str:
        """The name with the package."""
        return f"{self.package}{OF_PACKAGE}{self.name}"


def add(folder: Path) -> None:
    """Serve the methods and kinds of a folder, too: its files, and its folders that have a `kind.py`."""
    package = sys.modules.setdefault(FOLDER, ModuleType(FOLDER))
    package.__path__ = [*getattr(package, "__path__", ()), str(folder.resolve())]
    sources.cache_clear()


@functools.cache
def sources(group: str) -> tuple[Source, ...]:
    """Return what other packages declare in a group of entry points, and what folders hold, by name and origin."""
    each = {*_declared(group), *_in_folders(group)}
    return tuple(sorted(each, key=lambda source: (source.name, source.origin)))


def named(group: str, name: str) -> Source | None:
    """Return the source of a name, which may state its package; None where there is none."""
    return next((source for source in sources(group) if name in (source.name, source.qualified)), None)


def missing(what: str, name: str) -> ValueError:
    """Return the refusal of what a document names, and which is not there: `SchemaMismatch` where it is a package's."""
    package, _, plain_name = name.partition(OF_PACKAGE)
    if not plain_name:
        return NotSupported(f"there is no {what} {name!r} in this version")
    hint = "name its folder: dpress --methods FOLDER" if package == FOLDER else "install it"
    return SchemaMismatch(f"there is no {what} {plain_name!r} of the package {package!r} here; {hint}")


def card(source: Source) -> Card:
    """Return the card of a method.

    Raises:
        NotSupported: it cannot be imported, or has no card of its name.
    """
    made = _constant(source, source.module, "CARD", Card)
    if not made.name == source.name == source.module.rpartition(".")[2]:
        raise NotSupported(f"{_called(source)}: CARD of {made.name!r} in {source.module}; both bear the method's name")
    return made


def method(source: Source) -> type:
    """Return the class of a method.

    Raises:
        NotSupported: see `card`.
        AttributeError: its module has no class of its name.
    """
    card(source)
    described: type = getattr(sys.modules[source.module], class_name(source.name))
    return described


def kind(source: Source) -> Kind:
    """Return the card of a kind under its qualified name, which stands in for no other: it acts only where it is named.

    Raises:
        NotSupported: it cannot be imported, or has no card of its name.
    """
    made = _constant(source, f"{source.module}.kind", "KIND", Kind)
    if made.name != source.name:
        raise NotSupported(f"{_called(source)}: KIND of {made.name!r} in {source.module}.kind")
    return replace(made, name=source.qualified, stands_in=False)


def entries(entry: Callable[[Card], Entry], taken: frozenset[str]) -> tuple[Entry, ...]:
    """Return what the catalogue shows of every method from outside; of a broken one, why.

    Args:
        entry: makes it of a card.
        taken: names that are no longer free.
    """
    packages = sorted({source.package for source in sources(METHODS)})
    every = [made for package in packages for made in _entries(package, entry)]
    owners, shown = dict.fromkeys(taken, "dpress"), []
    for made in sorted(every, key=lambda made: (made.name, made.origin)):
        owner = owners.setdefault(made.name, made.origin)
        fault = f"{made.name} of {made.origin}: there is a method of this name in {owner}"
        shown.append(made if owner == made.origin else replace(made, fault=fault))
    return tuple(shown)


def _entries(package: str, entry: Callable[[Card], Entry]) -> tuple[Entry, ...]:
    """Return the entries of one package, kept where it has a folder."""
    of, folders = [source for source in sources(METHODS) if source.package == package], _folders(package)

    def make() -> list[Entry]:
        return [_entry(source, entry) for source in of]

    if not folders:
        return tuple(make())
    ours = str(Path(__file__).parents[2])
    words = [f"{source.name} {source.module} {source.origin}" for source in of]
    return kept(Path(folders[0]), [*folders[1:], ours], make, words=words)


def _entry(source: Source, entry: Callable[[Card], Entry]) -> Entry:
    try:
        return replace(entry(card(source)), origin=source.origin)
    except NotSupported as refusal:
        fault = str(refusal)
    except Exception as error:  # noqa: BLE001  # somebody's code: it stops nothing but itself
        fault = f"{_called(source)}: its example: {_why(error)}"
    nothing = Entry(name=source.name, family="", model="", paper="", published=None, proven=None, makes=())
    return replace(nothing, origin=source.origin, fault=fault)


def _folders(package: str) -> list[str]:
    """Return the folders of a package; none where it is one file, or not there."""
    if package == FOLDER:
        return list(sys.modules[FOLDER].__path__)
    with contextlib.suppress(ImportError, ValueError):
        spec = importlib.util.find_spec(package)
        return list(spec.submodule_search_locations or ()) if spec is not None else []
    return []


def _constant(source: Source, module: str, constant: str, kind: type[T]) -> T:
    try:
        made = getattr(importlib.import_module(module), constant, None)
    except (Exception, SystemExit) as error:  # somebody's code: it stops nothing but itself
        raise NotSupported(f"{_called(source)}: {_why(error)}") from error
    if type(made) is not kind:
        raise NotSupported(f"{_called(source)}: {module} has no {constant}")
    return made


def _called(source: Source) -> str:
    return f"{source.name} of {source.origin}"


def _why(error: BaseException) -> str:
    """Return what went wrong in one line; code that is imported has seen no rows."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST]


def _declared(group: str) -> Iterator[Source]:
    if f"[{group}]" not in _declarations():
        return
    from importlib.metadata import entry_points  # noqa: PLC0415  # costs as much as a list; only where there are any

    for point in entry_points(group=group):
        yield Source(name=point.name, module=point.module, origin=point.module.partition(".")[0])


@functools.cache
def _declarations() -> str:
    """Return the text of all entry points that installed packages declare."""
    texts = []
    for folder in sys.path:
        with contextlib.suppress(OSError), os.scandir(folder or ".") as inside:
            for entry in inside:
                if entry.name.endswith((".dist-info", ".egg-info")):
                    with contextlib.suppress(OSError, UnicodeError):
                        texts.append(Path(entry.path, "entry_points.txt").read_text(encoding="utf-8"))
    return "".join(texts)


def _in_folders(group: str) -> Iterator[Source]:
    for folder in getattr(sys.modules.get(FOLDER), "__path__", ()):
        files = Path(folder).glob("*.py" if group == METHODS else "*/kind.py")
        for name in (file.stem if group == METHODS else file.parent.name for file in files):
            if name.isidentifier() and not name.startswith("_") and not name.endswith("_audit"):
                yield Source(name=name, module=f"{FOLDER}.{name}", origin=folder)
