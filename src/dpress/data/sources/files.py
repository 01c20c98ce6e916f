"""Which files a path, a folder, a glob or a list names, and what changes when one of them does."""

import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpress.core.basics.errors import SchemaMismatch

SIGNS = frozenset("*?[")  # of a glob
Stamp = tuple[tuple[str, int, int, int], ...]  # of every file its path and what changes with it


def named(data: str | Path | Sequence[str | Path]) -> tuple[Path, ...]:
    """Return the files, in the order of their names: one, all in and below a folder, or those that fit a glob.

    Files and folders whose names start with a dot or an underscore are left out, as engines mark their own by it.

    Args:
        data: a file, a folder, a glob such as `rows/*.parquet`, or a list of files.

    Raises:
        OSError: a folder or a glob without a file.
    """
    if not isinstance(data, (str, Path)):
        return tuple(Path(path) for path in data)
    path = Path(data)
    if path.is_dir():
        paths = sorted(file for file in path.rglob("*") if file.is_file() and _kept(file.relative_to(path)))
        if not paths:
            raise FileNotFoundError(f"the folder {path} holds no file of rows")
        return tuple(paths)
    if SIGNS & set(str(path)) and not path.exists():
        root = Path(path.anchor)
        paths = sorted(file for file in root.glob(str(path.relative_to(root))) if file.is_file())
        if not paths:
            raise FileNotFoundError(f"no file fits {path}")
        return tuple(paths)
    return (path,)


def folder_of(data: str | Path | Sequence[str | Path]) -> Path | None:
    """Return the folder below which a folder or a glob names files; None for a file and a list."""
    path = Path() if not isinstance(data, (str, Path)) else Path(data)
    if path.is_dir() and isinstance(data, (str, Path)):
        return path
    fixed = list(itertools.takewhile(lambda part: not SIGNS & set(part), path.parts))
    return Path(*fixed) if len(fixed) < len(path.parts) and not path.exists() else None


def label(data: str | Path | Sequence[str | Path], files: Sequence[Path]) -> str:
    """Return what to call some files in a message."""
    return str(data) if isinstance(data, (str, Path)) else str(files[0]) if len(files) == 1 else f"{len(files)} files"


def stamp_of(files: Sequence[Path]) -> Stamp:
    """Return what changes when a file changes.

    Raises:
        OSError: there is no such file, no permission, or it is empty.
    """
    return tuple(_stamp(path) for path in files)


def changed(before: Any, after: Any) -> str:
    """Return the path of the first file that another stamp has changed; empty where the stamps are not of files.

    A stamp may be of the stamps of several sources.
    """
    pairs = zip(before, after, strict=False) if isinstance(before, tuple) and isinstance(after, tuple) else ()
    old, new = next(((old, new) for old, new in pairs if old != new), ("", ("",)))
    return changed(old, new) if isinstance(new[0], tuple) else str(new[0])


def check_endings(files: Sequence[Path], kinds: Sequence[str]) -> None:
    """Refuse files of several kinds.

    Args:
        files: of a folder, a glob or a list.
        kinds: what each of them is by its ending.

    Raises:
        SchemaMismatch: they differ.
    """
    for path, kind in zip(files, kinds, strict=True):
        if kind != kinds[0]:
            raise SchemaMismatch(f"{path}: expected a {kinds[0]} file as {files[0]} is; name files of one kind")


def escaped(path: Path) -> str:
    """Return a path that DuckDB takes for itself, whatever signs of a glob are in it."""
    return "".join(f"[{sign}]" if sign in SIGNS else sign for sign in str(path))


def _stamp(path: Path) -> tuple[str, int, int, int]:
    with path.open("rb") as file:
        stat = os.fstat(file.fileno())
    if not stat.st_size:
        raise OSError(f"{path} is empty")
    return str(path), stat.st_ino, stat.st_size, stat.st_mtime_ns


def _kept(path: Path) -> bool:
    return not any(part.startswith((".", "_")) for part in path.parts)
