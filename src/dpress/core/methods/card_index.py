"""What cards say, kept beside compiled code: a list of methods, or a plan, imports only the methods that it needs.

files of the package -> a stamp of their names, sizes and times -> entries that were kept under it, or made anew.

The index is kept by content, as compiled code is: any file that changes gives another stamp. Nobody edits it, and where
it cannot be written it is made at every start.
"""

import contextlib
import hashlib
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.util import cache_from_source
from pathlib import Path

NAME = "cards.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What the catalogue shows of a method without importing it; see `Card`.

    Args:
        name: of the method.
        family: the folder it lives in.
        model: "central" or "local".
        paper: the document and the theorem or algorithm.
        published: the losses for which its paper states a claim, e.g. "epsilon, rho"; None where it is none.
        proven: those for which its claim is proven.
        makes: what its card makes: "strategy", "oracle", "protocol", "spatial", "synthesizer".
        competes: whether `auto` chooses among it and others; the documents' and other packages' are taken by name only.
        origin: the package or the folder that it comes from; empty for ours.
        fault: why it is not there, in one line; such an index is not kept, for the fault may lie elsewhere.
    """

    name: str
    family: str
    model: str
    paper: str
    published: str | None
    proven: str | None
    makes: tuple[str, ...]
    competes: bool = False
    origin: str = ""
    fault: str = ""


def kept(
    package: Path, folders: Sequence[str], make: Callable[[], Sequence[Entry]], *, words: Sequence[str] = ()
) -> tuple[Entry, ...]:
    """Return the entries of a package's methods: those kept for its files as they are, or new ones, which are kept.

    Args:
        package: its folder.
        folders: where methods lie, in the package or outside.
        make: imports every method.
        words: what else the entries are made of.
    """
    path = Path(cache_from_source(str(package / "catalog.py"))).with_name(NAME)
    mark = stamp([str(package), *folders], words)
    entries = _read(path, mark)
    if entries is None:
        entries = tuple(make())
        if not any(entry.fault for entry in entries):
            _write(path, mark, entries)
    return entries


def stamp(folders: Sequence[str], words: Sequence[str] = ()) -> str:
    """Return a hash of the names, sizes and times of all files of code below some folders, and of some words."""
    files = itertools.chain.from_iterable(map(_files, folders))
    lines = sorted({f"{entry.path} {status.st_size} {status.st_mtime_ns}" for entry, status in files})
    return hashlib.sha256("\n".join([sys.version, *words, *lines]).encode()).hexdigest()


def _files(folder: str) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
    with contextlib.suppress(PermissionError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path)
            elif entry.name.endswith(".py") and entry.is_file():
                yield entry, entry.stat()


def _read(path: Path, mark: str) -> tuple[Entry, ...] | None:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["stamp"] != mark:
            return None
        return tuple(Entry(**entry | {"makes": tuple(entry["makes"])}) for entry in document["entries"])
    except (OSError, ValueError, KeyError, TypeError):  # none, half of one, or of another version
        return None


def _write(path: Path, mark: str, entries: Sequence[Entry]) -> None:
    """Keep entries, whole or not at all; where compiled code is not kept, neither are these."""
    if sys.dont_write_bytecode:
        return
    text = json.dumps({"stamp": mark, "entries": [asdict(entry) for entry in entries]})
    part = path.with_name(f"{NAME}.{os.getpid()}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        part.write_text(text, encoding="utf-8")
        part.replace(path)
