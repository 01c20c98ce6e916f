"""Where something new will be written: refused at once where something is, before any work is done for it."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def new_path(path: str | Path, what: str) -> Path:
    """Return the path of a file or a folder that does not exist yet.

    Args:
        path: where it will be.
        what: will be there, with its verb, for the message: "a design is", "reports are".

    Raises:
        OSError: something is there.

    >>> new_path("/", "a release is")
    Traceback (most recent call last):
    OSError: / exists already; a release is never overwritten, choose another name
    """
    place = Path(path)
    if os.path.lexists(place):
        raise OSError(f"{place} exists already; {what} never overwritten, choose another name")
    return place


def new_file(path: str | Path, what: str) -> Path:
    """Return the path of a file that does not exist yet, in a folder that does; see `new_path`.

    Raises:
        OSError: something is there, or its folder is not, or cannot be written.
    """
    place = new_path(path, what)
    if not (place.parent.is_dir() and os.access(place.parent, os.W_OK | os.X_OK)):
        why = "" if place.parent.is_dir() else ": there is no such folder"
        raise OSError(f"cannot write in {place.parent}{why}; choose another folder")
    return place


@contextmanager
def written_whole(place: Path) -> Iterator[Path]:
    """Give a hidden name beside a new file or folder: what is written there gets its place once it is whole.

    Whatever stops the writing leaves nothing there; only a process that is killed leaves the hidden one.
    """
    partial = place.with_name(f".{place.stem}.writing-{os.getpid()}{place.suffix}")
    try:
        yield partial
        partial.rename(place)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True) if partial.is_dir() else partial.unlink(missing_ok=True)
        raise
