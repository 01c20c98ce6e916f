"""The sum over those parts of the rows that are done, kept while others are counted: a count that is stopped goes on.

parts that are done and their sum -> a file, every half a minute -> the same sum, with fewer parts to read. Never a row;
exact sums, so as private as rows.
"""

import contextlib
import io
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dpress.data.add_up import Counts, added

SECONDS = 30.0  # between two files, at least
SHARE = 20  # and that many times what the last one took


@dataclass(slots=True, kw_only=True)
class PartSums:
    """The sum over parts that are done, of one count.

    Args:
        file: that holds it.
        write: writes it, whole or not at all.
        parts: how many parts there are.
        done: the numbers of those that are summed.
        rows: how many rows these have.
        total: their sum; None without any.
    """

    file: Path
    write: Callable[[str, bytes], None]
    parts: int
    done: set[int] = field(default_factory=set)
    rows: int = 0
    total: Counts | None = None
    started: float = field(default_factory=time.monotonic)
    took: float = 0.0

    def add(self, part: int, counts: Counts | None, rows: int) -> None:
        """Add a part that is done; one thread at a time."""
        self.done.add(part)
        self.rows += rows
        self.total = self.total if counts is None else added(self.total, counts)
        self.keep()

    def keep(self) -> None:
        """Write a file, where the last one is some time ago; without room for it there is none."""
        before = time.monotonic()
        if self.total is not None and before - self.started >= max(SECONDS, SHARE * self.took):
            text = io.BytesIO()
            figures = np.array([self.parts, self.rows], dtype=np.int64)
            np.savez(text, figures=figures, done=np.array(sorted(self.done), dtype=np.int64), total=self.total)
            with contextlib.suppress(OSError):
                self.write(self.file.name, text.getvalue())
            self.started = time.monotonic()
            self.took = self.started - before

    def restore(self) -> None:
        """Read what was kept of the same parts, if anything was."""
        with contextlib.suppress(OSError, ValueError, KeyError, zipfile.BadZipFile), np.load(self.file) as kept:
            parts, rows = kept["figures"].tolist()
            if parts == self.parts:
                self.done, self.rows, self.total = {*kept["done"].tolist()}, rows, kept["total"]


@dataclass(slots=True, kw_only=True)
class KeptSums:
    """What is kept of the counts of one release, one after the other, always in the same order.

    Args:
        folder: of their files.
        write: a file there, by its name.
        begun: how many counts were begun.
    """

    folder: Path
    write: Callable[[str, bytes], None]
    begun: int = 0

    def of_next(self, parts: int) -> PartSums:
        """Return the sums of the next count, with what was kept of it."""
        self.begun += 1
        sums = PartSums(file=self.folder / f"sums-{self.begun}.npz", write=self.write, parts=parts)
        sums.restore()
        return sums
