"""The report as it travels: a versioned MessagePack array that devices in any language can write.

`[version, ask, id, round, report_type, payload]`: integers and byte strings. Files of reports keep the same fields as
columns. What the payload means is in the design, whose `ask` the report names by its hash.
"""

from dataclasses import dataclass
from typing import Annotated

import msgspec

from dpress.core.basics.errors import ReportRejected

VERSION = 2
MEDIA_TYPE = "application/vnd.dpress.reports"
HASH_BYTES = ID_BYTES = 16

MISSING = "a field is missing"
OTHER_VERSION = "another version"
OTHER_ASK = "another collection"
OTHER_ROUND = "another round"
UNKNOWN_TYPE = "unknown report type"
WRONG_LENGTH = "length of the payload"
REPEATED = "repeated"
REASONS = (MISSING, OTHER_VERSION, OTHER_ASK, OTHER_ROUND, UNKNOWN_TYPE, WRONG_LENGTH, REPEATED)


class Report(msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True):
    """One device's answer in a collection.

    Args:
        version: of this layout.
        ask: the first 16 bytes of the SHA-256 of the design's `ask`.
        id: 16 random bytes, new for every report; a report that arrives twice is counted once.
        round: the round of the collection, from 0.
        report_type: which of the collection's report types it is of, from 0, as the design lists them.
        payload: what the oracle made of the value, in the oracle's own fixed layout.
    """

    version: Annotated[int, msgspec.Meta(ge=1, le=255)] = VERSION
    ask: Annotated[bytes, msgspec.Meta(min_length=HASH_BYTES, max_length=HASH_BYTES)]
    id: Annotated[bytes, msgspec.Meta(min_length=ID_BYTES, max_length=ID_BYTES)]
    round: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 0
    report_type: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 0
    payload: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What every report of one collection says of itself; its payload's contents are the oracle's business.

    Args:
        ask: the first 16 bytes of the hash of the design's `ask`.
        widths: the bytes of a payload of every report type.
        round: the round of the collection.
    """

    ask: bytes
    widths: tuple[int, ...]
    round: int = 0

    def check(self, report: Report) -> None:
        """Refuse a report of another collection, or with a payload of the wrong length.

        Raises:
            ReportRejected: with the first reason, as named where a file's reports are counted.
        """
        valid = report.report_type < len(self.widths)
        reasons = {
            OTHER_ASK: report.ask != self.ask,
            OTHER_ROUND: report.round != self.round,
            UNKNOWN_TYPE: not valid,
            WRONG_LENGTH: valid and len(report.payload) != self.widths[report.report_type],
        }
        for reason, wrong in reasons.items():
            if wrong:
                raise ReportRejected(reason)


_DECODER = msgspec.msgpack.Decoder(Report)


def pack(report: Report) -> bytes:
    """Return the report as bytes."""
    return msgspec.msgpack.encode(report)


def unpack(packed: bytes) -> Report:
    """Return the report that these bytes hold.

    Raises:
        ReportRejected: they are truncated, have trailing bytes, a field is wrong, or the version is not known.
    """
    try:
        report = _DECODER.decode(packed)
    except msgspec.ValidationError as error:
        raise ReportRejected(f"a field of the report is wrong: {error}") from None
    except UnicodeDecodeError:
        raise ReportRejected("a field of the report is wrong: a text is no UTF-8") from None
    except msgspec.DecodeError:
        raise ReportRejected("the report is truncated, has trailing bytes, or is no MessagePack") from None
    if report.version != VERSION:
        raise ReportRejected(f"the report has version {report.version}; this collector reads version {VERSION}")
    return report
