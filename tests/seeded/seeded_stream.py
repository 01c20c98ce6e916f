"""Bytes in the place of the operating system's randomness, the same every day: for tests, and nothing else."""

import contextlib
import hashlib
import itertools
import os
import sys
import uuid
from pathlib import Path

SEED = "SEED_OF_A_TEST"  # the environment's variable by which a process that a test starts is given its stream
TURNS = "TURNS_OF_A_TEST"  # and the file that counts such processes, where several share one stream's name
_REAL = os.urandom


class Stream:
    """What `os.urandom` is while a test runs; a forked child draws real bytes, for it must not repeat its parent's."""

    def __init__(self, name):
        self.name, self.process, self.calls = name, os.getpid(), itertools.count()

    def __call__(self, size):
        """Return the next bytes of the stream of this name."""
        if os.getpid() != self.process or sys._getframe(1).f_code.co_filename == uuid.__file__:
            return _REAL(size)  # numba names a kernel's file by uuid where it compiles one, which it does once
        return hashlib.shake_256(f"{self.name} {next(self.calls)}".encode()).digest(size)


def turn():
    """Return what tells this process from those that were started before it under the same name."""
    if TURNS not in os.environ:
        return ""
    with Path(os.environ[TURNS]).open("ab") as file:
        file.write(b".")
        return f" {file.tell()}"


@contextlib.contextmanager
def drawing(name):
    """Let everything in this process draw from the stream of this name."""
    before, os.urandom = os.urandom, Stream(name)
    try:
        yield
    finally:
        os.urandom = before
