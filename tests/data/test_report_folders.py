"""Folders of files of reports: one file's fault is one line that names it; pieces follow from the files alone."""

import os
import re
from collections import Counter

import cloudpickle
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.data.test_reports import EXPECTED, report
from tests.reading import read_reports, table_of

from dpress.core.basics.errors import SchemaMismatch
from dpress.core.reports.wire import REPEATED
from dpress.data.reports import report_files as reading
from dpress.data.reports.report_files import read
from dpress.data.reports.report_paths import files_of


@pytest.fixture
def folder(tmp_path):
    """Five files of 300 reports, in row groups of 100."""
    (tmp_path / "reports").mkdir()
    for number in range(5):
        own = table_of([report(one) for one in range(300 * number, 300 * (number + 1))])
        pq.write_table(own, tmp_path / "reports" / f"{number}.parquet", row_group_size=100)
    return tmp_path / "reports"


def payloads(batches):
    """The first byte of every payload."""
    return [one for batch in batches for one in batch.payloads[:, 0].tolist()]


def test_reports_are_read_in_the_order_of_files_and_rows(folder):
    found, left_out = read_reports(*files_of(folder), expected=EXPECTED)
    assert payloads(found) == [number % 7 for number in range(1500)]
    assert not left_out
    found, _ = read_reports(*files_of(folder)[::-1], expected=EXPECTED)
    assert payloads(found) == [(300 * file + row) % 7 for file in (4, 3, 2, 1, 0) for row in range(300)]


def test_the_first_by_file_and_by_row_counts(folder):
    pq.write_table(table_of([report(number, payload=b"x") for number in (5, 1400, 9999)]), folder / "-first.parquet")
    found, left_out = read_reports(*files_of(folder), expected=EXPECTED)
    assert left_out == {REPEATED: 2}
    assert payloads(found).count(ord("x")) == 3
    found, left_out = read_reports(*files_of(folder)[::-1], expected=EXPECTED)
    assert left_out == {REPEATED: 2}
    assert payloads(found).count(ord("x")) == 1


def test_the_same_files_twice_count_once(folder):
    files = files_of(folder)
    found, left_out = read_reports(*files, *files, expected=EXPECTED)
    assert sorted(payloads(found)) == sorted(number % 7 for number in range(1500))
    assert left_out == {REPEATED: 1500}


@pytest.mark.parametrize(("rows", "sizes"), [(1, [100] * 15), (250, [200] * 7 + [100]), (10_000, [1500])])
def test_pieces_follow_from_the_row_groups(folder, monkeypatch, rows, sizes):
    monkeypatch.setattr(reading, "PIECE", rows)
    own = read(files_of(folder), EXPECTED)
    assert [piece.rows for piece in own.pieces()] == sizes
    assert own.rows == 1500


def test_a_piece_reads_its_own_reports_anywhere(folder, monkeypatch):
    monkeypatch.setattr(reading, "PIECE", 250)
    pq.write_table(table_of([report(number) for number in range(300, 320)]), folder / "9.parquet")
    own = read(files_of(folder), EXPECTED)
    left_out = Counter()
    again = cloudpickle.loads(cloudpickle.dumps(list(own.pieces())))
    apart = {at: payloads(again[at].batches(left_out)) for at in reversed(range(7))}
    assert [one for at in range(len(apart)) for one in apart[at]] == [number % 7 for number in range(1400)]
    assert len(payloads(again[-1].batches(left_out))) == 100
    assert left_out == {REPEATED: 20}


def test_ids_are_read_once_where_none_is_missing(folder):
    rows = table_of([report(1, id=bytes(8) + bytes(range(8))), report(2)])
    pq.write_table(rows, folder / "zero.parquet")  # an id that begins with zeros is one
    missing = pa.array([None, bytes(range(16))], rows.schema.field("id").type)
    pq.write_table(rows.set_column(2, "id", missing), folder / "missing.parquet")
    found, left_out = read_reports(*files_of(folder), expected=EXPECTED)
    assert left_out == {"a field is missing": 1, REPEATED: 1}
    assert len(payloads(found)) == 1502
    pq.write_table(table_of([report(1, id=bytes(range(1, 17)))]), folder / "other.parquet")
    for names, known in (("other", [True]), ("missing", [False]), ("zero", [False])):
        own = read([folder / f"{names}.parquet"], EXPECTED)
        assert [piece.named for piece in own.pieces()] == known


def refused(folder, kind, line):
    with pytest.raises(kind, match=f"^{re.escape(line)}$") as caught:
        read_reports(*files_of(folder), expected=EXPECTED)
    assert caught.value.__cause__ is caught.value.__context__ is None


@pytest.mark.parametrize("kept", [0, 3, 0.5, -1])
def test_a_truncated_file_in_the_middle(folder, kept):
    path = folder / "2.parquet"
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept) if isinstance(kept, float) else kept])
    refused(folder, OSError, f"{path} is truncated or no Parquet file; ask for the file again")


def test_a_damaged_page_in_the_middle(folder):
    path = folder / "2.parquet"
    data = bytearray(path.read_bytes())
    data[4:900] = b"\xff" * 896
    path.write_bytes(data)
    refused(folder, OSError, f"{path} is truncated or no Parquet file; ask for the file again")


def test_another_file_in_the_folder(folder):
    (folder / "notes.txt").write_text("4711-secret")
    refused(folder, OSError, f"{folder / 'notes.txt'} is truncated or no Parquet file; ask for the file again")


def test_a_file_with_other_columns(folder):
    own = pq.read_table(folder / "3.parquet").drop_columns(["round"])
    pq.write_table(own, folder / "3.parquet")
    line = f"{folder / '3.parquet'} is no file of reports: it needs a column round (uint16)"
    refused(folder, SchemaMismatch, line)


def test_a_name_that_the_engine_would_take_for_several(folder):
    (folder / "3.parquet").rename(folder / "[3].parquet")
    line = f"{folder / '[3].parquet'}: the characters * ? [ in a file's path would name several files; rename it"
    refused(folder, SchemaMismatch, line)


@pytest.mark.parametrize("change", ["touched", "shorter", "gone"])
def test_a_file_that_changes_or_goes_away_after_its_ids_were_read(folder, change):
    own, path = read(files_of(folder), EXPECTED), folder / "4.parquet"
    if change == "gone":
        path.unlink()
    elif change == "touched":
        os.utime(path, ns=(1, 1))
    else:
        path.write_bytes(path.read_bytes()[:1000])
    line = f"{path} changed or went away while it was read; nothing was released"
    with pytest.raises(OSError, match=f"^{re.escape(line)}$") as caught:
        payloads(batch for piece in own.pieces() for batch in piece.batches(Counter()))
    assert caught.value.__cause__ is caught.value.__context__ is None
