"""Files that a path names: regular ones, as large as they may be; a device or a pipe would be read for ever."""

import os
import stat
from pathlib import Path

LARGEST = 1 << 26  # bytes of a file that somebody wrote: a codebook, a hierarchy

READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Nor does it wait for a pipe that is there by now, where there are any."""


def check(path: str | Path) -> None:
    """Refuse what is there and no regular file, without opening it; what a link names counts.

    Raises:
        OSError: it is a device, a pipe or a socket, or cannot be looked at.
    """
    try:
        mode = Path(path).stat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise OSError(f"{path}: expected a file, this is a device, a pipe or a socket")


def read(path: str | Path, most: int = LARGEST) -> bytes:
    """Return what a file holds.

    Args:
        path: of the file.
        most: bytes that it may hold.

    Raises:
        OSError: it cannot be read, is no regular file, or holds more.
    """
    check(path)
    with os.fdopen(os.open(path, READING), "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(f"{path}: expected a file of at most {most:,} bytes")
    return content
