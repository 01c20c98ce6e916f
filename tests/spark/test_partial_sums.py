import numpy as np
import pyarrow as pa
import pytest

from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.data.add_up import SparseArray
from dpress.data.spark import partial_sums
from dpress.data.spark.partial_sums import COLUMNS, ROWS, SCHEMA, SLICE, joined, merged, partition_sums, whole

SIZE = 3 * SLICE + 5


def batch(values):
    return pa.record_batch({"a": pa.array(values, type=pa.int64())})


def dense(rows):
    return np.bincount(rows["a"].to_numpy(), minlength=SIZE).astype(np.int64)


def sparse(rows):
    places, values = np.unique(rows["a"].to_numpy(), return_counts=True)
    return SparseArray(SIZE, places, values)


def refusing(message, kind=SchemaMismatch):
    def kernel(_rows):
        raise kind(message)

    return kernel


def summed(partitions, kernel):
    """Return what the driver gets of some partitions, all of whose slices one worker adds."""
    sent = [piece for batches in partitions for piece in partition_sums(batches, kernel)]
    return whole(pa.Table.from_batches(list(merged(sent)), schema=SCHEMA), SIZE)


@pytest.mark.parametrize("kernel", [dense, sparse])
def test_partitions_add_up_to_the_sum_over_all_rows(kernel):
    rows = [[0, 1, 1, SIZE - 1], [SLICE, SLICE - 1], [], [5] * 1000, list(range(2 * SLICE))]
    total, counted = summed([[batch(rows[0]), batch(rows[1])], [], [batch(one) for one in rows[2:]]], kernel)
    expected = np.bincount([place for one in rows for place in one], minlength=SIZE)
    assert total.dtype == np.int64
    assert total.tolist() == expected.tolist()
    assert counted == expected.sum()


def test_negative_and_large_sums_travel_exactly():
    total, _ = summed([[batch([1])]] * 2, lambda _rows: np.array([-(2**61), 0, 2**61] + [0] * (SIZE - 3)))
    assert total[:3].tolist() == [-(2**62), 0, 2**62]


def test_only_slices_that_hold_something_travel():
    (piece,) = partition_sums([batch([3, 3])], dense)
    assert piece["slice"].to_pylist() == [ROWS, 0]
    assert len(piece["sums"][1].as_py()) == 8
    (full,) = partition_sums([batch(list(range(SLICE)))], dense)
    assert full["places"][1].as_py() is None


def test_nothing_travels_of_an_empty_partition():
    assert list(partition_sums([], dense)) == []
    total, counted = summed([[]], dense)
    assert counted == 0
    assert not total.any()


def test_a_refused_row_is_an_answer_the_same_whichever_comes_first():
    partitions = [[batch([1])], [batch([2])]]
    one = [next(partition_sums(own, refusing(text))) for own, text in zip(partitions, ("b: x", "a: y"), strict=True)]
    for order in (one, one[::-1]):
        found = pa.Table.from_batches(list(merged([*partition_sums([batch([1])], dense), *order])))
        with pytest.raises(SchemaMismatch, match=r"^a: y$"):
            whole(found, SIZE)


def test_other_refusals_keep_their_kind():
    with pytest.raises(NotSupported, match=r"^no$"):
        summed([[batch([1])]], refusing("no", NotSupported))


def test_another_fault_is_no_answer():
    with pytest.raises(ZeroDivisionError):
        summed([[batch([1])]], refusing("", ZeroDivisionError))


def test_small_batches_are_joined(monkeypatch):
    monkeypatch.setattr(partial_sums, "BATCH_ROWS", 10)
    found = list(joined(batch([number] * 4) for number in range(7)))
    assert [one.num_rows for one in found] == [12, 12, 4]
    assert pa.Table.from_batches(found)["a"].to_pylist() == [number for number in range(7) for _ in range(4)]


def test_the_columns_are_those_of_the_schema():
    kinds = {"int": pa.int32(), "binary": pa.binary(), "string": pa.string()}
    stated = [one.split() for one in COLUMNS.split(", ")]
    assert [(name, kinds[kind]) for name, kind in stated] == [(field.name, field.type) for field in SCHEMA]
