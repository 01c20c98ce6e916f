"""Packed bits against their unpacked form."""

import itertools

import numpy as np
import pytest

from dpress.core.basics import bits, rng

SIZES = (1, 3, 8, 9, 24, 40, 64, 65, 100, 1024)


def rows_of(amount: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Random bits with unequal columns, plain and packed."""
    words = rng.seeded(amount + size).words(amount * size).reshape(amount, size)
    plain = words % np.uint64(97) < np.arange(size, dtype=np.uint64) % np.uint64(98)
    return plain, np.packbits(plain, axis=1, bitorder="little")


def test_column_counts_are_the_sums_of_the_unpacked_bits() -> None:
    for case in itertools.product(SIZES, [0, 1, 2, 7, 195, 196, 3000]):
        size, amount = case
        plain, packed = rows_of(amount, size)
        counts = bits.column_counts(packed, size)
        assert counts.dtype == np.int64, case
        assert np.array_equal(counts, plain.sum(axis=0)), case


@pytest.mark.parametrize("size", [8, 64, 256])
def test_column_counts_do_not_depend_on_the_blocks(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, packed = rows_of(20_000, size)
    for block in (1, 5000, 1 << 22):
        monkeypatch.setattr(bits, "BLOCK", block)
        assert np.array_equal(bits.column_counts(packed, size), plain.sum(axis=0))


@pytest.mark.parametrize("amount", [194, 195, 255, 256, 257, 70_000])
def test_full_columns_do_not_overflow(amount: int) -> None:
    assert bits.column_counts(np.full((amount, 8), 255, dtype=np.uint8), 64).tolist() == [amount] * 64


def test_counts_of_a_view_with_gaps() -> None:
    _, packed = rows_of(1000, 64)
    assert np.array_equal(bits.column_counts(packed[::3], 64), bits.column_counts(packed[::3].copy(), 64))


def test_weights_padding_and_width() -> None:
    for size in SIZES:
        plain, packed = rows_of(50, size)
        assert packed.shape[1] == bits.width(size), size
        assert np.array_equal(bits.weights(packed), plain.sum(axis=1)), size
        assert not bits.padded(packed, size).any(), size
        if size % 8:
            packed[3, -1] |= 1 << (size % 8)
            packed[5, -1] |= 0x80
            assert np.flatnonzero(bits.padded(packed, size)).tolist() == [3, 5], size


def test_put_sets_and_clears_one_bit_of_every_row() -> None:
    for size in SIZES:
        plain, packed = rows_of(200, size)
        columns = np.arange(200, dtype=np.int32) * 7 % size
        coins = np.arange(200) % 3 == 0
        plain[np.arange(200), columns] = coins
        bits.put(packed, columns, coins)
        assert np.array_equal(packed, np.packbits(plain, axis=1, bitorder="little")), size
