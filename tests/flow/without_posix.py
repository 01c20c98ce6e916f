"""A program for a process of its own: the whole path as on Windows, as far as a process elsewhere can be made alike.

Modules and functions that Windows lacks are hidden; a file that was opened to be read cannot be flushed there, and no
folder can be opened. Files have CRLF at the ends of their lines. Prints "done" at the end.
"""

import asyncio.unix_events  # noqa: F401  # other packages, and Python's own, act by the system's name: they come first
import errno
import fcntl
import importlib
import multiprocessing.popen_fork  # noqa: F401
import os
import signal
import sys
import types
from pathlib import Path

import altair as alt  # noqa: F401
import click  # noqa: F401
import duckdb  # noqa: F401
import filelock
import litestar  # noqa: F401
import numba  # noqa: F401
import pyarrow.compute
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet  # noqa: F401
import pytest
import rich.progress  # noqa: F401
import scipy.special  # noqa: F401
import uvicorn  # noqa: F401
import vl_convert  # noqa: F401

MODULES = ("fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "readline", "syslog")
FUNCTIONS = (
    *("fork", "forkpty", "pread", "pwrite", "preadv", "pwritev", "getuid", "geteuid", "getgid", "getegid", "chown"),
    *("mkfifo", "mknod", "killpg", "setsid", "sched_getaffinity", "sync", "fchmod", "fchown", "sysconf", "uname"),
    *("O_NONBLOCK", "O_DIRECTORY", "O_NOFOLLOW", "O_SYNC", "O_DSYNC"),
)
SIGNALS = ("SIGHUP", "SIGALRM", "SIGKILL", "SIGUSR1", "SIGUSR2", "SIGQUIT", "SIGPIPE")
SPEC = """\
[data]
source = "visits.csv"

[[attribute]]
name = "age"
kind = "integer"
bounds = [0, 99]
bins = 10

[[attribute]]
name = "day"
kind = "date"
bounds = ["2024-01-01", "2024-03-31"]
cells = "month"

[privacy]
epsilon = 1

[release]
kind = "marginals"
"""
DEVICES = """\
[[attribute]]
name = "age"
kind = "integer"
bounds = [0, 99]
bins = 10

[privacy]
epsilon = 1
model = "local"

[release]
kind = "histogram"

[release.parameters]
users = 600
"""
PERIODS = '[periods]\nattribute = "day"\n\n[privacy]'


def others_keep_theirs() -> None:
    """Give other packages, which act by the system's name, an `os` of their own."""
    whole = types.ModuleType("os")
    vars(whole).update(vars(os))
    for module in list(sys.modules.values()):  # of other packages, which act by the system's name
        if getattr(module, "os", None) is os and module.__name__ != __name__:
            module.os = whole  # type: ignore[attr-defined]


def as_on_windows() -> None:
    """Hide what Windows lacks, and refuse what it refuses."""
    flags, flush, opened = fcntl.fcntl, os.fsync, os.open
    get, mode = fcntl.F_GETFL, os.O_ACCMODE

    def fsync(file: int) -> None:
        if flags(file, get) & mode == os.O_RDONLY:
            raise OSError(errno.EBADF, "Bad file descriptor")
        flush(file)

    def open_file(path: str, *options: int, **named: int) -> int:
        if not isinstance(path, int) and Path(path).is_dir():
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return opened(path, *options, **named)

    os.fsync, os.open = fsync, open_file
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]  # an import of it fails
    for name in FUNCTIONS:
        if hasattr(os, name):
            delattr(os, name)
    for name in SIGNALS:
        delattr(signal, name)


def run(*arguments: str) -> None:
    """Run a command, which must succeed."""
    from dpress.cli.main import main

    try:
        main(list(arguments))
    except SystemExit as stop:
        if stop.code:
            raise


def crlf(name: str, text: str) -> None:
    Path(name).write_bytes(text.replace("\n", "\r\n").encode())


def whole_path() -> None:
    """Plan, publish, ask, draw; by periods; from devices; serve."""
    from fractions import Fraction

    crlf("visits.toml", SPEC)
    crlf("months.toml", SPEC.replace("[privacy]", PERIODS))
    days = [f"2024-0{1 + row % 2}-{1 + row % 28:02}" for row in range(600)]
    crlf("visits.csv", "age,day\n" + "".join(f"{row % 90},{day}\n" for row, day in enumerate(days)))
    run("demo", "--out", "demo", "--quiet")
    run("plan", "visits.toml")
    run("check", "visits.toml", "--quiet")
    run("publish", "visits.toml", "--out", "out", "--ledger", "budget.db", "--quiet")
    run("query", "out", "age in 0..49")
    run("report", "out", "--out", "out.html")
    for month in ("2024-01", "2024-02"):
        run("publish", "months.toml", "--period", month, "--out", "months", "--ledger", "series.db", "--quiet")
    run("query", "months", "total")
    run("ledger", "verify", "series.db")
    crlf("devices.toml", DEVICES)
    run("plan", "devices.toml", "--out", "design.json")
    run("perturb", "design.json", "--data", "visits.csv", "--out", "reports.parquet", "--quiet")
    run("estimate", "design.json", "--reports", "reports.parquet", "--out", "estimate", "--quiet")

    import dpress
    from dpress.ledger.device_ledger import DeviceLedger
    from dpress.service.connection_places import MOST, most_connections

    account = DeviceLedger(path=Path("device.jsonl"))
    assert account.charge(0, "tag", dpress.PureDP(epsilon=1), dpress.PureDP(epsilon=2))
    assert account.spent == Fraction(1)
    assert most_connections() == MOST
    import dpress.service.server
    import dpress.studio


def trips() -> None:
    """What the code must not do fails here: else nothing of this would be tested."""
    Path("file").write_bytes(b"1")
    with Path("file").open("rb") as file, pytest.raises(OSError, match="Bad file descriptor"):
        os.fsync(file.fileno())
    with pytest.raises(PermissionError):
        os.open(".", os.O_RDONLY)
    with pytest.raises(ImportError):
        importlib.import_module("fcntl")


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    with filelock.FileLock("first.lock"):  # it loads the rest of itself now
        pass
    others_keep_theirs()
    as_on_windows()
    trips()
    whole_path()
    sys.stdout.write("done\n")
