"""Codes into bytes and back: what every oracle does to a device's value first and to a report last.

Numbers are little-endian in the fewest bytes, so that reports are one array and read alike in every language.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from dpress.core.basics import check
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.errors import NotSupported, ReportRejected
from dpress.core.basics.losses.any_loss import describe
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import as_pure, pure
from dpress.core.reports.oracle import Oracle, Payloads, Tally, Values

Number = npt.NDArray[np.uint32]

ANY_TWO_VALUES = Unit(relation=Relation.REPLACE_ONE)
"""The unit of every local claim: any two values of one report."""

LARGEST_SIZE = 2**31 - 1  # of a domain whose codes are 32-bit integers
_BLOCK = 1 << 17  # reports counted at a time
_REPORTS = 1 << 16
_ENTRIES = 1 << 24


def width(numbers: int) -> int:
    """Return the fewest bytes that hold 0, ..., numbers - 1.

    >>> [width(numbers) for numbers in (1, 256, 257, 2**24 + 1)]
    [1, 1, 2, 4]
    """
    return max(1, ((numbers - 1).bit_length() + 7) // 8)


def check_domain(size: int, loss: Loss, *, largest: int = LARGEST_SIZE) -> None:
    """Refuse what no oracle serves: a loss that is not pure, fewer than one value, or too many.

    Raises:
        NotSupported: the loss is not epsilon, or there are more than `largest` values.
    """
    pure(loss, f"a frequency oracle is calibrated to epsilon, got {describe(loss)}")
    if check.count("size", size) > largest:
        raise NotSupported(f"size must be at most {largest}, got size={size}")


def serving(method: Callable[..., Oracle], largest: int = LARGEST_SIZE) -> Callable[[int, Loss], Oracle | None]:
    """Return what a card offers: the method over k values under epsilon, None for another loss or more values."""

    def serve(size: int, loss: Loss) -> Oracle | None:
        epsilon = as_pure(loss)
        return None if epsilon is None or size > largest else method(size=size, loss=epsilon)

    return serve


def codes(values: Values, size: int) -> Values:
    """Return the values as an array of codes.

    Raises:
        ValueError: one is not an integer of 0, ..., size - 1 (it is not shown).
    """
    array = np.asarray(values)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise ValueError("values must be integers of shape (users,)")
    if array.dtype == np.int32:  # as unsigned numbers, negative ones exceed every size: one pass instead of two
        outside = array.size and array.view(np.uint32).max() >= size
    else:
        outside = array.size and (array.min() < 0 or array.max() >= size)
    if outside:
        raise ValueError(f"values must lie between 0 and {size - 1}")
    return array.astype(np.int32, copy=False)


def pack(numbers: Number, size: int) -> Payloads:
    """Return numbers as rows of `size` bytes, from 1 to 4, little-endian.

    >>> pack(np.array([1, 258], dtype=np.uint32), 2).tolist()
    [[1, 0], [2, 1]]
    """
    if size == 3:
        return numbers.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :3]
    return numbers.astype(f"<u{size}").view(np.uint8).reshape(-1, size)


def unpack(payloads: Payloads) -> Number | npt.NDArray[np.uint16] | npt.NDArray[np.uint8]:
    """Return the numbers of 1 to 4 bytes in these rows.

    >>> unpack(np.array([[1, 0, 0], [2, 1, 0]], dtype=np.uint8)).tolist()
    [1, 258]
    """
    size = payloads.shape[1]
    if size == 3:
        numbers = payloads[:, 2].astype(np.uint32)
        for byte in (1, 0):  # byte by byte is several times faster than copying rows of three into rows of four
            numbers <<= 8
            numbers |= payloads[:, byte]
        return numbers
    return np.ascontiguousarray(payloads).view(f"<u{size}").reshape(-1)


def histogram(payloads: Payloads, numbers: int) -> Tally:
    """Return how often each of 0, ..., numbers - 1 was reported, shape (numbers,).

    The memory beside `payloads` is bounded by a few arrays of that shape, or of one block.

    Raises:
        ReportRejected: a report holds a larger number; `faults` tells which.
    """
    step = max(_BLOCK, numbers)
    counts = _counted(payloads[:step], numbers)
    for start in range(step, len(payloads), step):
        counts += _counted(payloads[start : start + step], numbers)
    return counts


def _counted(payloads: Payloads, numbers: int) -> Tally:
    sent = unpack(payloads)
    if sent.size and sent.max() >= numbers:
        raise ReportRejected("a report is out of range")
    return np.bincount(sent, minlength=numbers).astype(np.int64, copy=False)


def check_channel(reports: int, size: int) -> None:
    """Refuse to write down a channel that is too large.

    Raises:
        NotSupported: there are more than 2^16 different reports, or 2^24 probabilities.
    """
    if reports > _REPORTS or reports * size > _ENTRIES:
        raise NotSupported(f"a channel of {size} values and {reports} reports is too large to write down")
