"""The permanent response: coins that a device draws once for every value, by HMAC from its secret instead of a table.

Bit b of a value's code is flipped, for ever, where word b of the value's stream lies below a threshold of 32 bits.

Every language draws the same bits. All integers are little-endian and unsigned:

    stream(secret, value) = HMAC-SHA256(secret, message 0) || HMAC-SHA256(secret, message 1) || ...
    message i, 42 bytes   =  0..15  the label "dpress permanent" in ASCII
                            16..31  the collection
                            32..33  the slot: the number of the attribute's answer among all of the collection
                            34..37  the value's code
                            38..41  i, the block
    word b, 32 bits       = bytes 4b..4b+3 of the stream; block b // 8 holds it
    bit b is flipped      where word b < 2^32 P(flip)
    cohort                = bytes 0..7 of HMAC-SHA256(secret, "dpress cohort   " || collection), modulo their number
    word, of a cell       = word 0 of the stream of the cell's number
    seed                  = three 64-bit words, bytes 0..23 of HMAC-SHA256(secret, label || collection || slot), under
                            the label "dpress hash     "
    user group            = the same modulo the number of groups, under the label "dpress group    "

Flow: secrets, values -> 32-byte blocks -> words -> comparison -> packed bits.
"""

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpress.core.basics import check
from dpress.core.basics.bits import width
from dpress.core.basics.rng import Generator
from dpress.noise.bit_coins import packed_coins

Bytes = npt.NDArray[np.uint8]
Secrets = Bytes  # one device a row, 16 to 64 bytes each

LABEL = b"dpress permanent"
COHORT = b"dpress cohort   "
GROUP = b"dpress group    "
HASH = b"dpress hash     "
COLLECTION_BYTES = 16
SLOTS = 1 << 16
SHORTEST, LONGEST = 16, 64  # bytes of a secret: 128 bits at least, a block of SHA-256 at most
BITS = 32
WORDS = 8  # in a block
BLOCK = 1 << 13  # devices whose words are held at a time

_INNER = bytes(byte ^ 0x36 for byte in range(256))
_OUTER = bytes(byte ^ 0x5C for byte in range(256))


def _check_collection(collection: bytes) -> None:
    if len(collection) != COLLECTION_BYTES:
        raise ValueError(f"collection must have {COLLECTION_BYTES} bytes, got {len(collection)}")


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of a permanent response in a collection: coins of two slots are independent.

    Args:
        collection: 16 bytes that name what devices are asked.
        number: of the answer's first attribute, below 2^16; the attributes of all report types of a collection are
            counted through, so that no two share coins.
    """

    collection: bytes = bytes(COLLECTION_BYTES)
    number: int = 0

    def __post_init__(self) -> None:
        _check_collection(self.collection)
        if check.count("slot", self.number, least=0) >= SLOTS:
            raise ValueError(f"slot must be below {SLOTS}, got slot={self.number}")

    def after(self, attributes: int) -> "Slot":
        """Return the slot so many attributes later.

        >>> Slot(number=2).after(3).number
        5
        """
        return replace(self, number=self.number + attributes)


FIRST = Slot()


def flip_probability(f: check.Number) -> Fraction:
    """Return the smallest multiple of 2^-32 >= f / 2: a fairer coin than asked for, never one that spends more.

    >>> flip_probability("0.5")
    Fraction(1, 4)
    """
    return Fraction(math.ceil(check.exact("f", f) / 2 * (1 << BITS)), 1 << BITS)


def check_secrets(secrets: Secrets, devices: int) -> None:
    """Refuse secrets of another number, or too short or too long to key HMAC.

    Raises:
        ValueError: the shape is not (devices, 16 to 64), or they are not bytes.
    """
    if secrets.dtype != np.uint8 or secrets.ndim != 2 or len(secrets) != devices:
        raise ValueError(f"secrets must be bytes of shape ({devices}, bytes of a secret)")
    if not SHORTEST <= secrets.shape[1] <= LONGEST:
        raise ValueError(f"a secret must have {SHORTEST} to {LONGEST} bytes, got {secrets.shape[1]}")


def flips(secrets: Secrets, values: npt.NDArray[np.int32], size: int, *, p: Fraction, slot: Slot) -> Bytes:
    """Return which bits of every device's code are flipped for ever, packed, shape (devices, width(size)).

    Promise: with secrets that are uniform and used for nothing else, as good as independent coins of probability
        exactly `p`, as far as HMAC-SHA256 is a pseudorandom function; the same for ever for the same value.

    Args:
        secrets: shape (devices, 16 to 64).
        values: the codes, shape (devices,).
        size: bits of a code.
        p: P(flip), a multiple of 2^-32.
        slot: what is answered.

    Raises:
        ValueError: secrets of a wrong shape.

    >>> secret = np.arange(16, dtype=np.uint8)[None]
    >>> flips(secret, np.array([3]), 12, p=Fraction(1, 4), slot=Slot()).tolist()
    [[196, 4]]
    """
    check_secrets(secrets, len(values))
    prefix = _prefix(slot)
    threshold = np.uint32(int(p * (1 << BITS)))
    out = np.empty((len(values), width(size)), dtype=np.uint8)
    for start in range(0, len(values), BLOCK):
        part = slice(start, start + BLOCK)
        words = _words(secrets[part], values[part], -(-size // WORDS), prefix)
        out[part] = np.packbits(words[:, :size] < threshold, axis=1, bitorder="little")
    return out


def words(secrets: Secrets, values: npt.NDArray[np.int32], *, slot: Slot) -> npt.NDArray[np.uint32]:
    """Return one uniform 32-bit word for every device's value, the same for ever for the same value, shape (devices,).

    Promise: as `flips`.

    Raises:
        ValueError: secrets of a wrong shape.
    """
    check_secrets(secrets, len(values))
    return _words(secrets, values, 1, _prefix(slot))[:, 0]


def hash_seeds(secrets: Secrets, *, slot: Slot) -> npt.NDArray[np.uint64]:
    """Return three uniform 64-bit words for every device, the same for ever, shape (devices, 3)."""
    check_secrets(secrets, len(secrets))
    message = HASH + slot.collection + slot.number.to_bytes(2, "little")
    blocks = b"".join(_hmac(inner, outer, message)[:24] for inner, outer in _pads(secrets))
    return np.frombuffer(blocks, dtype="<u8").reshape(-1, 3)


def fresh_flips(devices: int, size: int, *, p: Fraction, rng: Generator) -> Bytes:
    """Return what `flips` returns for devices that are new and report once: the same coins, without secrets."""
    out = packed_coins(p, devices * width(size), rng=rng).reshape(devices, width(size))
    if size % 8:
        out[:, -1] &= np.uint8((1 << size % 8) - 1)
    return out


def cohorts(secrets: Secrets, number: int, *, collection: bytes) -> npt.NDArray[np.int64]:
    """Return every device's cohort, the same for ever, shape (devices,)."""
    return _draw(secrets, number, COHORT, collection)


def user_groups(secrets: Secrets, number: int, *, collection: bytes) -> npt.NDArray[np.int64]:
    """Return every device's user group, which says what it reports about; the same for ever, shape (devices,)."""
    return _draw(secrets, number, GROUP, collection)


def _draw(secrets: Secrets, number: int, label: bytes, collection: bytes) -> npt.NDArray[np.int64]:
    _check_collection(collection)
    check_secrets(secrets, len(secrets))
    blocks = b"".join(_hmac(inner, outer, label + collection)[:8] for inner, outer in _pads(secrets))
    return (np.frombuffer(blocks, dtype="<u8") % np.uint64(number)).astype(np.int64)


def _prefix(slot: Slot) -> bytes:
    return LABEL + slot.collection + slot.number.to_bytes(2, "little")


def _words(secrets: Secrets, values: npt.NDArray[np.int32], blocks: int, prefix: bytes) -> npt.NDArray[np.uint32]:
    """Return the first words of every device's stream, shape (devices, 8 blocks)."""
    counters = [block.to_bytes(4, "little") for block in range(blocks)]
    digests = []
    for (inner, outer), value in zip(_pads(secrets), values.tolist(), strict=True):
        message = prefix + value.to_bytes(4, "little")
        digests += [_hmac(inner, outer, message + counter) for counter in counters]
    return np.frombuffer(b"".join(digests), dtype="<u4").reshape(len(secrets), blocks * WORDS)


def _pads(secrets: Secrets) -> Iterator[tuple[bytes, bytes]]:
    """Yield the two padded keys of HMAC for every secret."""
    padded = np.zeros((len(secrets), LONGEST), dtype=np.uint8)
    padded[:, : secrets.shape[1]] = secrets
    for key in padded:
        block = key.tobytes()
        yield block.translate(_INNER), block.translate(_OUTER)


def _hmac(inner: bytes, outer: bytes, message: bytes) -> bytes:
    """Return HMAC-SHA256 (RFC 2104): two one-shot hashes are faster than the library's objects."""
    return hashlib.sha256(outer + hashlib.sha256(inner + message).digest()).digest()
