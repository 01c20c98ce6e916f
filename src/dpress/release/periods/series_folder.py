"""The folder of a series while a period is added: who may write in it, and what it keeps of the ledger that pays.

specification -> `series.json`, locked -> spans are added -> the ledger's name and head.
"""

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from dpress.core.basics.edited_file import check_format, reason
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.specification.spec import Spec, as_dict, from_dict
from dpress.ledger.ledger import Verification
from dpress.query.folder import MANIFEST, SERIES
from dpress.query.kept_tables import restore

FORMAT = 1
LOCK = ".lock"
PARTIAL = f".{SERIES}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What `series.json` says.

    Args:
        specification: of all periods.
        id: drawn when the series was begun.
        ledger: that paid last, by the hash of its first line.
    """

    specification: Spec
    id: str
    ledger: str | None


def described(folder: Path) -> Description:
    """Read the description of a series.

    Raises:
        OSError: the folder holds none.
        SchemaMismatch: it was edited.
    """
    try:
        fields: dict[str, Any] = json.loads((folder / SERIES).read_text(encoding="utf-8"))
        check_format(fields["format"], FORMAT)
        specification = from_dict(fields["specification"])
        for published in sorted(folder.glob(f"*/{MANIFEST}"))[:1]:
            restore(specification.schema.attributes, published.parent)
        return Description(specification=specification, id=str(fields["id"]), ledger=fields.get("ledger"))
    except FileNotFoundError:
        raise OSError(f"{folder} holds no series: there is no {SERIES} in it") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SchemaMismatch(f"{folder / SERIES}{reason(error)}") from None


def plain_of(spec: Spec) -> dict[str, Any]:
    """Return a specification as JSON has it."""
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(as_dict(spec)))
    return plain


@contextlib.contextmanager
def begun(folder: Path, spec: Spec, unpaid: Callable[[], bool]) -> Iterator[None]:
    """Begin a series, or go on with one, while nobody else adds to it.

    Where nothing is published yet, another specification begins another series. A series that is begun here, and whose
    first period is refused, leaves nothing behind.

    Args:
        folder: of the series.
        spec: of all periods.
        unpaid: says whether no ledger was charged for the series.

    Raises:
        ValueError: something was published with another specification.
        OSError: the folder holds something else, or another process adds a period.
    """
    place = folder / SERIES
    names = {LOCK, PARTIAL, SERIES}
    if folder.exists() and not place.exists() and any(path.name not in names for path in folder.iterdir()):
        raise OSError(f"{folder} exists already and is no series; choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder):
        there = described(folder) if place.exists() else None
        if there is None or there.specification.hash != from_dict(plain_of(spec)).hash:
            if there is not None and (there.ledger is not None or any(folder.glob(f"*/{MANIFEST}"))):
                raise ValueError(f"{folder} was begun with another specification; choose another folder")
            _write(
                folder, {"format": FORMAT, "id": os.urandom(8).hex(), "ledger": None, "specification": plain_of(spec)}
            )
        try:
            yield
        except BaseException:
            if there is None and not any(folder.glob(f"*/{MANIFEST}")) and unpaid():
                _forget(folder)
            raise


def _forget(folder: Path) -> None:
    """Take away what a series that came to nothing was begun with."""
    for name in (SERIES, LOCK):
        (folder / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # something else lies there
        folder.rmdir()


def keep(folder: Path, ledger: Verification) -> None:
    """Note in the folder which ledger paid, and its last line: neither is forgotten with the newest period's folder.

    Raises:
        OSError: it cannot be written.
    """
    fields = json.loads((folder / SERIES).read_text(encoding="utf-8"))
    _write(folder, {**fields, "ledger": ledger.first, "ledger_head": ledger.head})


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
    from filelock import FileLock, Timeout  # noqa: PLC0415  # 70 ms that few commands need

    try:
        with FileLock(folder / LOCK, timeout=0, mode=0o644):
            yield
    except Timeout:
        raise OSError(f"{folder}: another process adds a period; try again when it is done") from None
