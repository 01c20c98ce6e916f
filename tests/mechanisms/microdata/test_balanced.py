"""Cells for the records of a group: their shares, with every value of the other attributes."""

import numpy as np

from dpress.core.basics import rng
from dpress.mechanisms.microdata.balanced import assign, balanced
from dpress.mechanisms.microdata.record_sampling import drawn

SHARES = np.array([0.5, 0.3, 0.2])


def others(records: int) -> np.ndarray:
    words = (rng.seeded(3).words(2 * records) >> np.uint64(8)).astype(np.int64).reshape(2, records)
    return np.stack([words[0] % 4, 4 + words[1] % 7])


def largest_gap(cells: np.ndarray, values: np.ndarray) -> float:
    """The largest difference from its share, in records, of a cell with a value."""
    counts = [np.bincount(cells[row == value], minlength=3) for row in values for value in np.unique(row)]
    return max(float(np.abs(own - own.sum() * SHARES).max()) for own in counts)


def test_every_value_has_its_part_of_every_cell() -> None:
    values = others(2000)
    found = balanced(values, 11, SHARES, rng=rng.seeded(1))
    assert largest_gap(found, values) < 4
    assert np.abs(np.bincount(found) - 2000 * SHARES).max() < 2
    assert largest_gap(drawn(SHARES, 2000, rng=rng.seeded(1)), values) > 6  # at random it is not so


def test_compiled_is_as_written() -> None:
    values = others(50)
    start = rng.seeded(1)
    found = balanced(values, 11, SHARES, rng=rng.seeded(1))
    counts = (start.words(12 * 3) >> np.uint64(11)) * 2.0**-53 - 0.5
    out = np.empty(50, dtype=np.int64)
    assign(np.ascontiguousarray(values.T), SHARES, counts.reshape(12, 3), out)
    assert np.array_equal(out, found)


def test_of_no_counts_cells_are_even_and_no_record_is_none() -> None:
    found = balanced(others(300), 11, np.zeros(3), rng=rng.seeded(1))
    assert np.abs(np.bincount(found, minlength=3) - 100).max() < 3
    assert balanced(np.zeros((2, 0), np.int64), 1, SHARES, rng=rng.seeded(1)).size == 0
