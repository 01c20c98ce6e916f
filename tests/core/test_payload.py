"""Numbers in 1 to 4 bytes: there and back, and histograms of more reports than one block holds."""

import itertools

import numpy as np
import numpy.typing as npt
import pytest

from dpress.core.basics.errors import ReportRejected
from dpress.core.reports import payload

BLOCK = 1 << 17
SIZES = (1, 2, 256, 257, 2**16, 2**16 + 1, 2**18)


def numbers(size: int, users: int) -> npt.NDArray[np.uint32]:
    """Return every number, the largest included, as evenly as it goes."""
    return (np.arange(users, dtype=np.uint64) * 7919 % size).astype(np.uint32)


def test_numbers_come_back() -> None:
    for largest in [2**8, 2**16, 2**24, 2**31]:
        found = np.array([0, 1, largest // 3, largest - 1], dtype=np.uint32)
        packed = payload.pack(found, payload.width(largest))
        assert packed.shape == (4, payload.width(largest)), largest
        assert payload.unpack(packed).tolist() == found.tolist(), largest
        assert payload.unpack(packed[::-1]).tolist() == found[::-1].tolist(), largest


def test_a_histogram_is_the_same_in_blocks() -> None:
    for case in itertools.product(SIZES, [0, 1, BLOCK, 2 * BLOCK + 1, 2**18 + 1]):
        size, users = case
        found = numbers(size, users)
        counts = payload.histogram(payload.pack(found, payload.width(size)), size)
        assert counts.dtype == np.int64, case
        assert (counts == np.bincount(found, minlength=size)).all(), case


@pytest.mark.parametrize("place", [0, BLOCK - 1, BLOCK, 2 * BLOCK])
def test_a_number_that_there_is_not_is_rejected_in_every_block(place: int) -> None:
    found = np.zeros(2 * BLOCK + 1, dtype=np.uint32)
    found[place] = 200
    packed = payload.pack(found, 1)
    assert payload.histogram(packed, 201)[200] == 1
    with pytest.raises(ReportRejected, match="out of range"):
        payload.histogram(packed, 200)
