"""Reports back to back, as a device uploads them and a store keeps them: many at once, without an object for each.

bytes -> where every report begins and what its header says -> arrays. The layout is that of `core.reports.wire`; every
field stands in its shortest form, as MessagePack asks of those who write it.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.core.basics.compiled import compiled
from dpress.core.basics.errors import ReportRejected
from dpress.core.reports.wire import (
    HASH_BYTES,
    ID_BYTES,
    OTHER_ASK,
    OTHER_ROUND,
    OTHER_VERSION,
    UNKNOWN_TYPE,
    WRONG_LENGTH,
    Expected,
)
from dpress.core.reports.wire import VERSION as THIS_VERSION

SHORTEST = 42  # bytes of a report with an empty payload
BEGIN, END, VERSION, ROUND, TYPE, PAYLOAD = range(6)  # round and type as the report's own fields are numbered
ARRAY = 0x96  # of six
OF_BYTES = np.array([0, 1, 1, 0, 0, 1])  # which fields are strings of bytes, the others integers
KEPT = np.array([VERSION, PAYLOAD, PAYLOAD, ROUND, TYPE, PAYLOAD])  # of three places the last one stays
SMALLEST = np.array([1, HASH_BYTES, ID_BYTES, 0, 0, 0])
LARGEST = np.array([127, HASH_BYTES, ID_BYTES, 65535, 65535, 2**31])
FOLLOWING = np.full((2, 256), -1)  # by the first byte of an integer, or of a string's length: how many follow
FOLLOWING[0, :0x80], FOLLOWING[0, 0xCC], FOLLOWING[0, 0xCD] = 0, 1, 2
FOLLOWING[1, 0xC4], FOLLOWING[1, 0xC5], FOLLOWING[1, 0xC6] = 1, 2, 4
LEAST = np.array([[0, 1 << 7, 1 << 8, 0, 0], [0, 0, 1 << 8, 0, 1 << 16]])  # that is not written shorter
ASK_AT, ID_AT = 4, 22  # after the array's byte, the version and the two bytes before each byte string
Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """Reports in one piece of memory.

    Args:
        body: all of them.
        places: shape (reports, 6): where each begins and ends, its version, round and report type, and where its
            payload begins.
    """

    body: Bytes
    places: Places

    def __len__(self) -> int:
        """Return the number of reports."""
        return len(self.places)

    def column(self, which: int) -> Places:
        """Return one number of every report, shape (reports,)."""
        return self.places[:, which]

    @property
    def widths(self) -> Places:
        """The bytes of every payload."""
        return self.places[:, END] - self.places[:, PAYLOAD]

    @property
    def asks(self) -> Bytes:
        """What every report names, shape (reports, 16)."""
        return self._cut(self.places[:, BEGIN] + ASK_AT, HASH_BYTES)

    @property
    def ids(self) -> Bytes:
        """The ids, shape (reports, 16)."""
        return self._cut(self.places[:, BEGIN] + ID_AT, ID_BYTES)

    def payloads(self, chosen: Flags, width: int) -> Bytes:
        """Return the payloads of these reports, all of one width, shape (reports, width)."""
        return self._cut(self.places[chosen, PAYLOAD], width)

    def only(self, chosen: Flags) -> bytes:
        """Return these reports back to back."""
        if chosen.all():
            return self.body.tobytes()
        whole = self.body.tobytes()
        return b"".join(whole[begin:end] for begin, end in self.places[chosen, BEGIN : END + 1].tolist())

    def _cut(self, begins: Places, width: int) -> Bytes:
        """Return `width` bytes from every one of these places on."""
        if not len(begins) or not width:
            return np.zeros((len(begins), width), dtype=np.uint8)
        step = int(begins[1] - begins[0]) if len(begins) > 1 else width
        if (np.diff(begins) == step).all() and step >= width:  # reports of one length: a view, no copy
            reports = self.body[begins[0] :]
            return np.lib.stride_tricks.as_strided(reports, (len(begins), width), (step, 1), writeable=False)
        return np.take(self.body, begins[:, None] + np.arange(width))


def parse(body: bytes) -> Packed:
    """Return the reports that lie in these bytes.

    Raises:
        ReportRejected: they are no reports back to back; the message says which one is not.
    """
    content = np.frombuffer(body, dtype=np.uint8)
    places = np.empty((len(body) // SHORTEST, 6), dtype=np.int64)
    reports, sound = compiled(walk)(content, places)
    if not sound:
        raise ReportRejected(f"report {reports + 1} of the body is truncated or not in the layout of a report")
    return Packed(body=content, places=places[:reports])


def faults(reports: Packed, expected: Expected) -> dict[str, Flags]:
    """Return by reason which reports are not of a collection, by what they say of themselves."""
    number = reports.column(TYPE)
    valid = number < len(expected.widths)
    widths = np.array([*expected.widths, -1])[np.minimum(number, len(expected.widths))]
    return {
        OTHER_VERSION: reports.column(VERSION) != THIS_VERSION,
        OTHER_ASK: (reports.asks != np.frombuffer(expected.ask, dtype=np.uint8)).any(axis=1),
        OTHER_ROUND: reports.column(ROUND) != expected.round,
        UNKNOWN_TYPE: ~valid,
        WRONG_LENGTH: valid & (reports.widths != widths),
    }


def walk(body: Bytes, places: Places) -> tuple[int, bool]:
    """Fill `places`, and return how many reports are sound from the first on and whether they are all there is.

    Plain Python that numba compiles. The version takes one byte, ask and id 16, so that they lie at fixed places.
    """
    at, count, size = 0, 0, len(body)
    while at < size:
        begin = at
        if size - begin < SHORTEST or body[begin] != ARRAY:
            return count, False
        at += 1
        for field in range(6):
            of_bytes = OF_BYTES[field]
            following = FOLLOWING[of_bytes, body[at]] if at < size else -1
            if following < 0 or at + following >= size:
                return count, False
            number = int(body[at]) if following == 0 else 0
            for place in range(at + 1, at + following + 1):
                number = number * 256 + int(body[place])
            at += 1 + following
            if not max(LEAST[of_bytes, following], SMALLEST[field]) <= number <= LARGEST[field]:
                return count, False
            places[count, KEPT[field]] = at if of_bytes else number
            at += number * of_bytes
        if at > size:
            return count, False
        places[count, BEGIN], places[count, END] = begin, at
        count += 1
    return count, True
