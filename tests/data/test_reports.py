"""Files of reports: what is wrong with one is counted, the others go on."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.reading import read_reports, table_of

from dpress.core.basics import rng
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.reports import wire
from dpress.core.reports.wire import Expected, Report
from dpress.data.reports.report_batch import SCHEMA, Batch
from dpress.data.reports.report_writer import write

ASK = bytes(range(16))
EXPECTED = Expected(ask=ASK, widths=(1, 2))


def report(number, **changed):
    own = {"ask": ASK, "id": number.to_bytes(16, "big"), "payload": bytes([number % 7])}
    return Report(**own | changed)


@pytest.fixture
def read(tmp_path):
    """Write a table of reports and return the payloads by report type, and the counts of what was left out."""

    def run(table):
        pq.write_table(table, tmp_path / "reports.parquet")
        batches, left_out = read_reports(tmp_path / "reports.parquet", expected=EXPECTED)
        found = {0: [], 1: []}
        for batch in batches:
            found[batch.report_type] += [bytes(row) for row in batch.payloads]
        return found, left_out

    return run


def batches(total, width, size=1000):
    generator = rng.seeded(3)
    for start in range(0, total, size):
        rows = min(size, total - start)
        payloads = generator.words(rows * width).view(np.uint8)[: rows * width].reshape(rows, width)
        ids = generator.words(2 * rows).view(np.dtype((np.void, 16)))
        yield Batch(report_type=0, payloads=payloads), ids


def test_every_fault_is_counted_and_the_sound_ones_are_read(read):
    faulty = {
        wire.OTHER_VERSION: {"version": 1},
        wire.OTHER_ASK: {"ask": bytes(16)},
        wire.OTHER_ROUND: {"round": 3},
        wire.UNKNOWN_TYPE: {"report_type": 2},
        wire.WRONG_LENGTH: {"report_type": 1},
    }
    bad = [report(100 + place, **changed) for place, changed in enumerate(faulty.values())]
    found, rejected = read(table_of([report(1), *bad, report(2), report(3, report_type=1, payload=b"ab")]))
    assert found == {0: [b"\1", b"\2"], 1: [b"ab"]}
    assert rejected == dict.fromkeys(faulty, 1)


@pytest.mark.parametrize("number", [2, 255, 65535])
def test_an_unknown_report_type_is_counted_however_large(read, number):
    assert read(table_of([report(1, report_type=number)])) == ({0: [], 1: []}, {wire.UNKNOWN_TYPE: 1})


@pytest.mark.parametrize("column", SCHEMA.names)
def test_a_missing_field_is_counted(read, column):
    table = table_of([report(1), report(2)])
    values = table.column(column).to_pylist()
    place = table.schema.get_field_index(column)
    table = table.set_column(place, column, pa.array([None, values[1]], type=table.schema.field(column).type))
    assert read(table) == ({0: [b"\2"], 1: []}, {wire.MISSING: 1})


def test_nothing_but_missing_fields(read):
    columns = [pa.nulls(5, kind) for kind in SCHEMA.types]
    assert read(pa.table(columns, schema=SCHEMA)) == ({0: [], 1: []}, {wire.MISSING: 5})


def test_an_empty_file(read):
    assert read(table_of([])) == ({0: [], 1: []}, {})


@pytest.mark.parametrize("distance", [1, 2, 70_000, 140_000])
def test_an_id_counts_once_also_across_batches(read, distance):
    reports = [report(number) for number in range(distance)]
    found, rejected = read(table_of([*reports, report(0, payload=b"x"), report(0, payload=b"y")]))
    assert found[0] == [one.payload for one in reports]
    assert rejected == {wire.REPEATED: 2}


def test_ids_that_agree_in_one_half_only_are_different(read):
    """The ids share their first 8 bytes, so that the fast comparison cannot tell them apart."""
    half = bytes(8)
    same = [report(1, id=half + number.to_bytes(8, "big")) for number in range(1000)]
    swapped = [report(2, id=number.to_bytes(8, "big") + half) for number in range(1, 1000)]
    found, rejected = read(table_of([*same, *swapped, same[5], swapped[7]]))
    assert len(found[0]) == 1999
    assert rejected == {wire.REPEATED: 2}


def test_the_fast_comparison_is_a_set_of_ids(read):
    generator = rng.seeded(9)
    numbers = (generator.words(5000) % np.uint64(3000)).tolist()
    found, rejected = read(table_of([report(number) for number in numbers]))
    assert found[0] == [bytes([number % 7]) for number in dict.fromkeys(numbers)]
    assert rejected == {wire.REPEATED: 5000 - len(set(numbers))}


@pytest.mark.parametrize("width", [1, 13, 600])
def test_what_is_written_is_read(tmp_path, width):
    path = tmp_path / "reports.parquet"
    assert write(path, batches(3500, width), expected=Expected(ask=ASK, widths=(1,)), private=True) == 3500
    batches_, left_out = read_reports(path, expected=Expected(ask=ASK, widths=(width,)))
    found = np.concatenate([batch.payloads for batch in batches_])
    assert (found == np.concatenate([batch.payloads for batch, _ in batches(3500, width)])).all()
    assert not left_out


def test_columns_of_one_value_cost_nothing(tmp_path):
    """An id of 16 bytes and a payload of 1; all other columns and the footer within a tenth of a byte a report."""
    write(
        tmp_path / "r.parquet",
        batches(200_000, 1, size=50_000),
        expected=Expected(ask=ASK, widths=(1,)),
        private=True,
    )
    assert (tmp_path / "r.parquet").stat().st_size / 200_000 < 17.1


def test_nothing_is_overwritten_or_left_behind(tmp_path):
    path = tmp_path / "reports.parquet"
    path.write_text("mine")
    with pytest.raises(OSError, match="exists already; reports are never overwritten"):
        write(path, batches(10, 1), expected=Expected(ask=ASK, widths=(1,)), private=True)
    assert path.read_text() == "mine"

    def failing():
        yield from batches(10, 1)
        raise ValueError("stopped")

    with pytest.raises(ValueError, match="stopped"):
        write(tmp_path / "other.parquet", failing(), expected=Expected(ask=ASK, widths=(1,)), private=True)
    assert [one.name for one in tmp_path.iterdir()] == ["reports.parquet"]


@pytest.mark.parametrize("name", SCHEMA.names)
def test_a_column_that_is_missing_or_of_another_type(tmp_path, name):
    table = table_of([report(1)])
    wrong = table.set_column(table.schema.get_field_index(name), name, pa.array([1.5]))
    for number, one in enumerate((table.drop_columns([name]), wrong)):
        pq.write_table(one, tmp_path / f"{number}.parquet")
        with pytest.raises(SchemaMismatch, match=re.escape(f"is no file of reports: it needs a column {name} (")):
            read_reports(tmp_path / f"{number}.parquet", expected=EXPECTED)


@pytest.mark.parametrize("kept", [0, 3, 100, 0.5, -1])
def test_a_truncated_file(tmp_path, kept):
    path = tmp_path / "reports.parquet"
    pq.write_table(table_of([report(number) for number in range(1000)]), path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept) if isinstance(kept, float) else kept])
    with pytest.raises(OSError, match="is truncated or no Parquet file; ask for the file again"):
        read_reports(path, expected=EXPECTED)


def test_no_file(tmp_path):
    with pytest.raises(OSError, match="there is no file"):
        read_reports(tmp_path / "none.parquet", expected=EXPECTED)


def test_damaged_pages(tmp_path):
    path = tmp_path / "reports.parquet"
    pq.write_table(table_of([report(number) for number in range(1000)]), path)
    data = bytearray(path.read_bytes())
    data[4:400] = b"\xff" * 396
    path.write_bytes(data)
    with pytest.raises(OSError, match="is truncated or no Parquet file; ask for the file again"):
        read_reports(path, expected=EXPECTED)


def mutated(good, source):
    """Up to three bytes of a file, each another one."""
    bad, words = bytearray(good), source.words(4)
    for word in words[1 : 2 + int(words[0] % np.uint64(3))]:
        bad[int(word >> np.uint64(20)) % len(bad)] = int(word & np.uint64(255))
    return bytes(bad)


@pytest.mark.slow
def test_a_damaged_file_is_read_or_refused_and_nothing_else(tmp_path):
    """2,000 files with one to three other bytes: what fails in one of 400 escapes with chance exp(-5)."""
    good, source = table_of([report(number) for number in range(40)]), rng.seeded(5)
    path = tmp_path / "reports.parquet"
    pq.write_table(good, path)
    raw, outcomes = path.read_bytes(), set()
    for _ in range(2000):
        path.write_bytes(mutated(raw, source))
        try:
            batches_, left_out = read_reports(path, expected=EXPECTED)
        except (SchemaMismatch, OSError):
            outcomes.add("refused")
        else:
            assert sum(len(batch.payloads) for batch in batches_) + sum(left_out.values()) <= 40
            outcomes.add("read")
    assert outcomes == {"refused", "read"}


def test_one_long_payload_of_many_reports_does_not_fill_the_memory(tmp_path):
    """A few megabytes of reports that would be 64 gigabytes if each had its own copy."""
    rows = 1 << 16
    ids = pa.array([number.to_bytes(16, "big") for number in range(rows)], pa.binary(16))
    long = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([bytes(1 << 20)], pa.binary()))
    columns = {"version": wire.VERSION, "ask": ASK, "round": 0, "report_type": 0}
    fixed = {name: pa.array([value] * rows, SCHEMA.field(name).type) for name, value in columns.items()}
    table = pa.table({**fixed, "id": ids, "payload": long}).select(SCHEMA.names)
    pq.write_table(table, tmp_path / "reports.parquet")
    assert (tmp_path / "reports.parquet").stat().st_size < 4 << 20
    before = pa.total_allocated_bytes()
    assert read_reports(tmp_path / "reports.parquet", expected=EXPECTED) == ([], {wire.WRONG_LENGTH: rows})
    assert pa.default_memory_pool().max_memory() - before < 1 << 30


def test_more_reports_than_bytes_are_refused_before_any_is_read(tmp_path):
    """1.2 million reports with one id and one payload take less than a byte each."""
    table = pa.concat_tables([table_of([report(7)] * 10_000)] * 120)
    pq.write_table(table.combine_chunks(), tmp_path / "reports.parquet", compression="zstd")
    with pytest.raises(SchemaMismatch, match=r"1,200,000 of them do not fit into [\d,]+ bytes"):
        read_reports(tmp_path / "reports.parquet", expected=EXPECTED)


def test_payloads_by_their_dictionary_are_read_like_any(read):
    table = table_of([report(number) for number in range(50)])
    place = table.schema.get_field_index("payload")
    shared = table.set_column(place, "payload", table["payload"].dictionary_encode())
    assert read(shared) == read(table)
