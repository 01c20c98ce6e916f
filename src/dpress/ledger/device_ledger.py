"""A device's own account: what its permanent responses have cost, in a file of lines that a crash cannot refund.

A permanent response answers one slot about one value, for ever: the same value again is free, a changed one is a
new response and a new charge. The file holds no value, only tags that nobody makes without the device's secret.

What it guarantees: of all the histories that change at the same times, no two can be distinguished with more than the
charged epsilon, whatever the number of reports. That a value changed, and that it changed back, is not hidden: reports
before and after come from different responses.

    tag  = HMAC-SHA256(secret, "dpress ledger v1" || spec || slot || value)
           spec 16 bytes; slot 2 bytes and value 4 bytes, little-endian
    line = {"checksum": first 16 hex digits of SHA-256 over the rest, "epsilon": "n/d", "slot": q, "tag": hex}

Flow: lock -> read all lines -> known tag: free; else does it fit? -> append, fsync -> unlock.
"""

import hashlib
import hmac
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO

import msgspec

from dpress.core.basics.errors import BudgetExceeded
from dpress.core.basics.losses.any_loss import describe
from dpress.core.basics.losses.pure import PureDP, pure

LOCK = ".lock"
BINARY = getattr(os, "O_BINARY", 0)  # without which Windows changes the ends of lines
LABEL = b"dpress ledger v1"
COLLECTION_BYTES = 16
SHORTEST = 16  # bytes of a secret


class Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One charge as it is stored."""

    checksum: str
    epsilon: str
    slot: int
    tag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceLedger:
    """The charges of one device in an append-only file.

    A charge is on disk when `charge` returns; make the report after that. A crash leaves at most an incomplete last
    line, whose response was never used; it is cut off. Two processes cannot charge at the same time. The checksums find
    damage; whoever owns the device may delete the file, and only betrays himself.

    Args:
        path: the file; it is made by the first charge.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = DeviceLedger(path=Path(folder) / "charges.jsonl")
    ...     own = tag(bytes(16), collection=bytes(16), slot=0, value=3)
    ...     ledger.charge(0, own, PureDP(epsilon=2), PureDP(epsilon=3))
    ...     ledger.charge(0, own, PureDP(epsilon=2), PureDP(epsilon=3))
    ...     ledger.spent
    True
    False
    Fraction(2, 1)
    """

    path: Path

    def __post_init__(self) -> None:
        """Take a path that is a text, too."""
        object.__setattr__(self, "path", Path(self.path))

    def charge(self, slot: int, tag: str, loss: PureDP, limit: PureDP) -> bool:
        """Charge the lifetime's loss of a response unless it was charged before, and say whether it was new.

        Args:
            slot: the number of the answer's first attribute among those of all report types.
            tag: its tag, see `tag`.
            loss: the lifetime's loss of the mechanism.
            limit: of all charges of this device together.

        Raises:
            BudgetExceeded: the limit does not allow it; nothing was charged, and no report may be made.
            NotSupported: loss or limit is not epsilon.
            ValueError: the file was edited or damaged.
            OSError: it cannot be written.
        """
        loss, limit = (pure(each, f"a device's ledger counts epsilon, got {describe(each)}") for each in (loss, limit))
        with _locked(self.path) as file:
            lines, end = _read(self.path, file)
            if any(line.slot == slot and line.tag == tag for line in lines):
                return False
            spent = _total(lines)
            if spent + loss.epsilon > limit.epsilon:
                raise BudgetExceeded(
                    f"budget exceeded: limit {float(limit.epsilon):.6g}; spent {float(spent):.6g}; "
                    f"asked {float(loss.epsilon):.6g}: a new value needs a new permanent response"
                )
            _append(file, end, _line(slot, tag, loss.epsilon))
            if not end:
                _keep_name(self.path)
        return True

    @property
    def lines(self) -> tuple[Line, ...]:
        """All charges, in order.

        Raises:
            ValueError: the file was edited or damaged.
        """
        if not self.path.exists():
            return ()
        with _locked(self.path) as file:
            return tuple(_read(self.path, file)[0])

    @property
    def spent(self) -> Fraction:
        """The sum of all charges."""
        return _total(list(self.lines))


def tag(secret: bytes, *, collection: bytes, slot: int, value: int) -> str:
    """Return the name of a permanent response, which tells nothing of the value without the secret.

    Raises:
        ValueError: a secret shorter than 16 bytes, or a collection's name that has not 16.

    >>> tag(bytes(16), collection=bytes(16), slot=0, value=3)[:8]
    '3e089324'
    """
    if len(secret) < SHORTEST:
        raise ValueError(f"a secret must have at least {SHORTEST} bytes, got {len(secret)}")
    if len(collection) != COLLECTION_BYTES:
        raise ValueError(f"collection must have {COLLECTION_BYTES} bytes, got {len(collection)}")
    size = max(4, (value.bit_length() + 7) // 8)  # several attributes together have more values than four bytes
    message = LABEL + collection + slot.to_bytes(2, "little") + value.to_bytes(size, "little")
    return hmac.digest(secret, message, "sha256").hex()


@contextmanager
def _locked(path: Path) -> Iterator[BinaryIO]:
    """Open the file, made if there is none, with the only right to it: that to the lock beside it."""
    from filelock import FileLock  # noqa: PLC0415  # 70 ms that few commands need

    flags = os.O_RDWR | os.O_CREAT | BINARY
    with (
        os.fdopen(os.open(path, flags, 0o600), "r+b", buffering=0) as file,
        FileLock(path.with_name(path.name + LOCK), mode=0o600),
    ):
        yield file


def _read(path: Path, file: BinaryIO) -> tuple[list[Line], int]:
    """Return all complete lines and where they end; what follows is a charge that never returned."""
    content = file.read()
    end = content.rfind(b"\n") + 1
    return [_parsed(path, number, text) for number, text in enumerate(content[:end].splitlines(), start=1)], end


def _parsed(path: Path, number: int, text: bytes) -> Line:
    try:
        line = msgspec.json.decode(text, type=Line)
        sound = line == _line(line.slot, line.tag, PureDP(epsilon=line.epsilon).epsilon)
    except ValueError:
        sound = False
    if not sound:
        raise ValueError(f"{path}: line {number} was edited or damaged; no report may be made from this device")
    return line


def _append(file: BinaryIO, end: int, line: Line) -> None:
    file.truncate(end)
    file.seek(end)
    text = msgspec.json.encode(line, order="sorted") + b"\n"
    while text:
        text = text[file.write(text) :]
    os.fsync(file.fileno())


def _keep_name(path: Path) -> None:
    """Put the new file's name on disk as well, where a folder can be opened for that; elsewhere the system does it."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    folder = os.open(path.absolute().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _line(slot: int, tag: str, epsilon: Fraction) -> Line:
    written = f"{epsilon.numerator}/{epsilon.denominator}"
    checksum = hashlib.sha256(f"{written}\n{slot}\n{tag}".encode()).hexdigest()[:16]
    return Line(checksum=checksum, epsilon=written, slot=slot, tag=tag)


def _total(lines: list[Line]) -> Fraction:
    return sum((Fraction(line.epsilon) for line in lines), Fraction(0))
