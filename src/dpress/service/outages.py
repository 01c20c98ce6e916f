"""What fails, for whoever runs the service: a line when it begins and a line when it is over, never one an upload."""

import contextlib
import sys
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

KEEPING = "keeping reports"
LOOKING = "reading the rounds"
ANSWERING = "answering a request"


@dataclass(slots=True)
class Outages:
    """What fails now, and how often it did. The lines hold no time, which journals add, and nothing about senders.

    Args:
        lines: where they are written; standard error unless given.
        failures: how often each thing failed since the service began.
    """

    lines: TextIO | None = None
    failures: Counter[str] = field(default_factory=lambda: Counter({KEEPING: 0, LOOKING: 0, ANSWERING: 0}))
    _now: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def failed(self, what: str, error: Exception) -> None:
        """Count a failure; write a line where it is another one than the last time.

        Args:
            what: was done, such as `KEEPING`.
            error: its text is written only where it is the store's own line, which holds no value.
        """
        with self._lock:
            self.failures[what] += 1
            why = " ".join(str(error).split()) if isinstance(error, OSError) else ""
            why = why or _place(error)
            if self._now.get(what) != why:
                self._now[what] = why
                self._write(f"{what} fails: {why}")

    def works(self, what: str) -> None:
        """Write a line where it failed before."""
        with self._lock:
            if self._now.pop(what, None) is not None:
                self._write(f"{what} works again")

    def _write(self, line: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # nobody reads: no reason to stop
            (self.lines or sys.stderr).write(f"dpress: {line}\n")


def _place(error: Exception) -> str:
    """Return the type of an error and where it was raised: its text might quote what was sent."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    where = "" if step is None else f" at {Path(step.tb_frame.f_code.co_filename).name}:{step.tb_lineno}"
    return f"{type(error).__name__}{where}"
