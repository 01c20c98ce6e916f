import os
import traceback

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from dpress.core.claim import ROW, Unit
from dpress.core.errors import SchemaMismatch
from dpress.data import table as module
from dpress.data.table import Table

ROWS = pa.table({"uid": [1, 1, 1, 2, 3, 3], "age": [20, 21, 22, 30, 40, 40], "name": list("abcdef")})


def read(data, columns=("age",), unit=ROW):
    batches = list(Table(data, columns, unit).batches())
    return sorted(row for batch in batches for row in zip(*batch.to_pydict().values(), strict=True))


def file(tmp_path, name, table=ROWS):
    path = tmp_path / name
    if name.endswith("csv"):
        pyarrow.csv.write_csv(table, path)
    else:
        pq.write_table(table, path)
    return path


@pytest.mark.parametrize("make", [lambda t: t, pa.Table.to_pandas, pl.from_arrow, lambda t: pl.from_arrow(t).lazy()])
def test_data_frames_give_the_same_rows(make):
    assert read(make(ROWS), ("age", "name")) == list(zip([20, 21, 22, 30, 40, 40], "abcdef", strict=True))


def test_duckdb_relations_are_read():
    assert len(read(duckdb.from_arrow(ROWS))) == 6


def test_files_are_read(tmp_path):
    assert read(file(tmp_path, "rows.parquet")) == [(20,), (21,), (22,), (30,), (40,), (40,)]
    assert read(file(tmp_path, "rows.csv"), ("name", "age"))[0] == ("a", "20")  # nothing is guessed from the rows


def test_column_names_are_quoted_not_run(tmp_path):
    odd = 'a"; DROP TABLE x; --'
    path = file(tmp_path, "rows.parquet", pa.table({odd: [1, 2]}))
    assert read(path, (odd,)) == [(1,), (2,)]


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_person_keeps_at_most_the_stated_number_of_rows(rows):
    kept = read(ROWS, ("uid", "name"), Unit(column="uid", rows=rows))
    owners = [uid for uid, _ in kept]
    assert {uid: owners.count(uid) for uid in owners} == {1: min(3, rows), 2: 1, 3: min(2, rows)}


@pytest.mark.slow
def test_which_rows_a_person_keeps_is_drawn_anew_and_evenly():
    draws = 600
    kept = [read(ROWS, ("uid", "name"), Unit(column="uid", rows=1))[0][1] for _ in range(draws)]
    counts = np.array([kept.count(name) for name in "abc"])
    chi_square = float(((counts - draws / 3) ** 2 / (draws / 3)).sum())
    assert chi_square < 27.64  # chi-square with 2 degrees of freedom: false alarm 1e-6
    assert len(set(kept)) > 1


def test_other_people_do_not_change_which_rows_a_person_keeps(monkeypatch):
    monkeypatch.setattr(module.secrets, "token_hex", lambda size: "00" * size)
    many = pa.table({"uid": [1] * 50, "age": list(range(50)), "name": ["x"] * 50})
    alone = read(many, ("uid", "age"), Unit(column="uid", rows=5))
    together = read(
        pa.concat_tables([ROWS.filter(pa.array([False] * 3 + [True] * 3)), many]),
        ("uid", "age"),
        Unit(column="uid", rows=5),
    )
    assert [row for row in together if row[0] == 1] == alone


def test_persons_are_bounded_group_by_group(monkeypatch):
    monkeypatch.setattr(module, "ROWS_TO_SORT", 100)
    uids = np.arange(1000) % 300
    kept = read(pa.table({"uid": uids, "age": np.arange(1000)}), ("uid",), Unit(column="uid", rows=2))
    assert sorted(uid for (uid,) in kept) == sorted(list(range(300)) * 2)


def test_a_row_without_a_person_is_refused():
    rows = pa.table({"uid": [1, None], "age": [1, 2]})
    with pytest.raises(SchemaMismatch, match="a row has no 'uid'"):
        read(rows, unit=Unit(column="uid", rows=1))


def test_a_missing_column_is_named_with_those_present(tmp_path):
    path = file(tmp_path, "rows.parquet")
    with pytest.raises(SchemaMismatch, match=r"rows.parquet has no column 'nope'; its columns are uid, age, name"):
        read(path, ("nope",))


def test_an_empty_file_and_a_table_without_rows_are_refused(tmp_path):
    (tmp_path / "empty.csv").touch()
    with pytest.raises(OSError, match=r"empty.csv is empty"):
        read(tmp_path / "empty.csv")
    with pytest.raises(SchemaMismatch, match="has no rows"):
        read(file(tmp_path, "none.csv", ROWS.slice(0, 0)))


def test_a_missing_file_and_another_format_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nope.csv")
    (tmp_path / "rows.xlsx").write_bytes(b"x")
    with pytest.raises(SchemaMismatch, match=r"expected a .csv or .parquet file"):
        read(tmp_path / "rows.xlsx")
    with pytest.raises(SchemaMismatch, match="got list"):
        read([1, 2, 3])


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path):
    path = file(tmp_path, "rows.parquet")
    batches = Table(path, ("age",), ROW).batches()
    next(batches)
    os.utime(path, ns=(1, 1))
    with pytest.raises(OSError, match="changed while it was read"):
        list(batches)


def test_an_engine_s_message_never_gets_out(tmp_path):
    secret = "4711-secret"
    (tmp_path / "broken.parquet").write_bytes(b"PAR1" + secret.encode() * 10)
    (tmp_path / "broken.csv").write_bytes(b'a,age\n1,"' + secret.encode() + b"\n\xff\xfe,2,3,4\n" * 3)
    for name in ("broken.parquet", "broken.csv"):
        with pytest.raises(OSError, match="message is withheld") as caught:
            read(tmp_path / name)
        assert secret not in "".join(traceback.format_exception(caught.value))
