"""What a file of reports holds, and reports as they are read: of one type, in batches, in pieces."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpress.core.reports.oracle import Payloads
from dpress.core.reports.wire import HASH_BYTES, ID_BYTES

LARGEST_BATCH = 1 << 26  # bytes of payloads at a time
SCHEMA = pa.schema(
    [
        ("version", pa.uint8()),
        ("ask", pa.binary(HASH_BYTES)),
        ("id", pa.binary(ID_BYTES)),
        ("round", pa.uint16()),
        ("report_type", pa.uint16()),
        ("payload", pa.binary()),
    ]
)
SEEDED = b"dpress.seeded"
Ids = npt.NDArray[np.void]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Reports of one type, sound in everything but their payloads' contents.

    Args:
        report_type: its number.
        payloads: shape (reports, width).
    """

    report_type: int
    payloads: Payloads


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPiece:
    """Reports that are read already.

    Args:
        rows: the number of reports, sound or not.
        read: the sound ones.
        left_out: how many are not, by reason.
    """

    rows: int
    read: tuple[Batch, ...]
    left_out: Counter[str]

    def batches(self, left_out: Counter[str]) -> Iterator[Batch]:
        """Yield the reports of one type after the other."""
        left_out.update(self.left_out)
        yield from self.read


def keep_sound(faults: Mapping[str, Flags], rows: int, left_out: Counter[str]) -> Flags:
    """Return which of some reports have no fault, and count the others by their first one.

    Args:
        faults: by reason, which reports have it.
        rows: the number of reports.
        left_out: how many were left out so far; grows.
    """
    keep = np.ones(rows, dtype=np.bool_)
    for reason, wrong in faults.items():
        if wrong.any() and (dropped := int((keep & wrong).sum())):
            left_out[reason] += dropped
            keep &= ~wrong
    return keep
