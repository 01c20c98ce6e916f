"""The folder of a series while a period is added: who may write in it, and what it keeps of the ledger that pays.

specification -> `series.json`, locked -> spans are added -> the ledger's name and head.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dpress.data.specification.spec import Spec, from_dict
from dpress.ledger.ledger import Verification
from dpress.release.folder import SERIES
from dpress.release.periods.series import FORMAT, load_series, plain_of

LOCK = ".lock"
PARTIAL = f".{SERIES}"


@contextlib.contextmanager
def begun(folder: Path, spec: Spec) -> Iterator[None]:
    """Begin a series, or go on with one, while nobody else adds to it.

    Where nothing is published yet, another specification begins another series.

    Raises:
        ValueError: something was published with another specification.
        OSError: the folder holds something else, or another process adds a period.
    """
    place = folder / SERIES
    own = {LOCK, PARTIAL, SERIES}
    if folder.exists() and not place.exists() and any(one.name not in own for one in folder.iterdir()):
        raise OSError(f"{folder} exists already and is no series; choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        there = load_series(folder) if place.exists() else None
        if there is None or there.calendar.spec.hash != from_dict(plain_of(spec)).hash:
            if there is not None and (there.spans or there.ledger is not None):
                raise ValueError(f"{folder} was begun with another specification; choose another folder")
            _write(
                folder, {"format": FORMAT, "id": os.urandom(8).hex(), "ledger": None, "specification": plain_of(spec)}
            )
        yield


def keep(folder: Path, ledger: Verification) -> None:
    """Note in the folder which ledger paid, and its last line: neither is forgotten with the newest period's folder.

    Raises:
        OSError: it cannot be written.
    """
    found = json.loads((folder / SERIES).read_text(encoding="utf-8"))
    _write(folder, {**found, "ledger": ledger.first, "ledger_head": ledger.head})


def _write(folder: Path, content: dict[str, Any]) -> None:
    partial = folder / PARTIAL
    with partial.open("w", encoding="utf-8") as file:
        file.write(json.dumps(content, indent=2, default=str) + "\n")
        file.flush()
        os.fsync(file.fileno())
    partial.replace(folder / SERIES)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, which ends with the process."""
    try:
        import fcntl  # noqa: PLC0415  # not everywhere
    except ImportError:  # where a folder that is written twice is refused by its name
        yield
        return
    handle = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OSError(f"{folder}: another process adds a period; try again when it is done") from None
        yield
    finally:
        os.close(handle)
