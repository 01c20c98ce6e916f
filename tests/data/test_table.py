import itertools
import os
import traceback
from collections import Counter

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from dpress.core.basics.claim import ROW, Unit
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.rng import seeded
from dpress.data import table as module
from dpress.data.sources import text_rows
from dpress.data.table import Table

ROWS = pa.table({"uid": [1, 1, 1, 2, 3, 3], "age": [20, 21, 22, 30, 40, 40], "name": list("abcdef")})


def read(data, columns=("age",), unit=ROW):
    batches = list(Table(data, columns, unit).batches())
    return sorted((row for batch in batches for row in zip(*batch.to_pydict().values(), strict=True)), key=str)


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


def kept_of_three(persons):
    """Which of three rows each of many people keeps, where one may stay."""
    people = pa.table({"uid": np.repeat(np.arange(persons), 3), "row": np.tile(np.arange(3), persons)})
    return np.array(read(people, ("uid", "row"), Unit(column="uid", rows=1)))[:, 1].astype(int)


def evenly(counts):
    """Whether chance explains how far counts are from equal: chi-square, 2 degrees of freedom, false alarm 1e-6."""
    return ((counts - counts.mean()) ** 2 / counts.mean()).sum() < 27.64


def test_which_rows_a_person_keeps_is_drawn_anew_and_evenly(monkeypatch):
    """20,000 people, read twice: a row that is kept, or kept again, a tenth too often is found with power .999999."""
    first, second = kept_of_three(20_000), kept_of_three(20_000)
    counts = np.bincount(first, minlength=3)
    assert evenly(counts)
    assert evenly(np.bincount((second - first) % 3, minlength=3))
    assert not evenly(counts * [1.2, 0.9, 0.9])  # the control: a first row that stays in 40 cases of a hundred
    monkeypatch.setattr(module.generators, "secure", lambda: seeded(1))
    again = kept_of_three(20_000) - kept_of_three(20_000)
    assert not evenly(np.bincount(again % 3, minlength=3))  # the control: a key that is not fresh


@pytest.mark.parametrize("data", [lambda path: path, lambda path: duckdb.read_parquet(str(path))])
def test_one_draw_holds_for_every_reading_of_a_table(tmp_path, data):
    """The control: two tables of the same rows, each with a draw of its own."""
    rows = pa.table({"uid": np.repeat(np.arange(1000), 5), "age": np.arange(5000)})
    path = file(tmp_path, "rows.parquet", rows)

    def ages(table):
        return sorted(age for batch in table.batches() for age in batch["age"].to_pylist())

    drawn, other = (Table(data(path), ("age",), Unit(column="uid", rows=2)).drawn() for _ in range(2))
    assert len(ages(drawn)) == 2000
    assert ages(drawn) == ages(drawn) == ages(drawn.drawn())
    assert ages(drawn) != ages(other)


def test_rows_that_change_between_two_readings_of_a_draw_are_refused(tmp_path):
    path = file(tmp_path, "rows.parquet")
    for moment, unit in enumerate((ROW, Unit(column="uid", rows=1)), start=1):
        table = Table(path, ("age",), unit).drawn()
        list(table.batches())
        os.utime(path, ns=(moment, moment))
        with pytest.raises(OSError, match="changed while it was read"):
            list(table.batches())


def test_a_row_without_a_person_is_refused():
    rows = pa.table({"uid": [1, None], "age": [1, 2]})
    with pytest.raises(SchemaMismatch, match="a row has no 'uid'"):
        read(rows, unit=Unit(column="uid", rows=1))


def test_a_missing_column_is_named_with_those_present(tmp_path):
    path = file(tmp_path, "rows.parquet")
    with pytest.raises(SchemaMismatch, match=r"rows.parquet has no column 'nope'; its columns are uid, age, name"):
        read(path, ("nope",))


def test_a_name_that_nearly_fits_is_told_where_names_may_be_shown(tmp_path):
    frame = pa.table({"age": [1], "weight": [2]})
    with pytest.raises(SchemaMismatch, match="no column 'Age'; its columns are age, weight; did you mean 'age'"):
        list(Table(frame, ("Age",), ROW).batches())
    (tmp_path / "rows.csv").write_text("age,weight\n1,2\n")
    with pytest.raises(SchemaMismatch) as caught:
        list(Table(tmp_path / "rows.csv", ("Age",), ROW).batches())
    assert "mean" not in str(caught.value)


def test_the_first_line_of_a_csv_is_not_shown_for_it_may_be_a_row(tmp_path):
    (tmp_path / "rows.csv").write_text("39,Alice Smith\n40,Bob\n")
    with pytest.raises(
        SchemaMismatch, match=r"no column 'age'; it has 2 columns; does it start with a header"
    ) as caught:
        read(tmp_path / "rows.csv")
    assert "Alice" not in str(caught.value)


def test_an_empty_file_and_a_table_without_rows_are_refused(tmp_path):
    (tmp_path / "empty.csv").touch()
    with pytest.raises(OSError, match=r"empty.csv is empty"):
        read(tmp_path / "empty.csv")
    with pytest.raises(SchemaMismatch, match="has no rows"):
        read(file(tmp_path, "none.csv", ROWS.slice(0, 0)))


def test_a_missing_file_and_another_format_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nope.csv")
    (tmp_path / "rows.docx").write_bytes(b"x")
    with pytest.raises(
        SchemaMismatch, match=r"rows.docx: expected a file with one of the endings .csv, .tsv, .parquet"
    ):
        read(tmp_path / "rows.docx")
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
        with pytest.raises(OSError, match=r"message is withheld|are no text in utf-8") as caught:
            read(tmp_path / name)
        assert secret not in "".join(traceback.format_exception(caught.value))


BASES = {
    "double quotes": ["c,d"] + ['"a","x"'] * 30,
    "plain": ["c,d"] + ["a,x"] * 30,
    "single quotes": ["c,d"] + ["'a',x"] * 30,
    "mixed": ["c,d"] + ['a,"x"'] * 30,
    "semicolons": ["c,d"] + ["a;1,x"] * 30,
}
ODD = [
    "#b,y", '"b;z",y', "b;z,y", '"b""z",y', '"b\\"z",y', "'b,y", "b,'y", "b|z|z,y", "b\tz,y", 'b,"y\nq"', "b,", "", ",",
    '"",""', 'b,"y', "b,y ", "b, y", '"b" ,y', "b,y\r", '"b"z,y', 'b"z,y', '"a;x;y;z",y', "a;x,b;y", '"#b",y', "b,y#z",
    '"b\'z",y', '\\"b,y', '"o;k",x', '"o,x',
]  # fmt: skip


@pytest.fixture
def one_engine(monkeypatch):
    """Tables read within one DuckDB, which takes longer to start than a small file to read."""
    with duckdb.connect() as engine:
        monkeypatch.setattr(text_rows.duckdb, "connect", engine.cursor)
        yield


@pytest.mark.usefixtures("one_engine")
@pytest.mark.parametrize("base", BASES)
def test_one_line_of_a_csv_never_changes_how_the_others_are_read(tmp_path, base):
    """Whatever the line, the rows read are the same but for one; or the file is refused as a whole."""
    path = tmp_path / "rows.csv"

    def rows(lines):
        path.write_bytes(("\n".join(lines) + "\n").encode())
        return Counter(read(path, ("c", "d")))

    before, told = rows(BASES[base]), 0
    for odd, place in itertools.product(ODD, (1, 15, 31)):
        try:
            after = rows([*BASES[base][:place], odd, *BASES[base][place:]])
        except OSError:
            continue
        told += 1
        assert (before - after).total() + (after - before).total() <= 1, odd
    assert told > 30


def test_a_fault_far_down_the_file_is_not_quoted(tmp_path):
    secret = "4711-secret"
    path = tmp_path / "late.csv"
    path.write_text("age,name\n" + "30,F\n" * 300_000 + f"41,M,{secret}\n")
    with pytest.raises(OSError, match=r"late\.csv cannot be read as a table: line 300,002 has 3 fields") as caught:
        read(path)
    assert secret not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None


def test_a_data_frame_s_fault_is_not_quoted(tmp_path):
    secret = "4711-secret"
    (tmp_path / "rows.csv").write_text(f"age\n{secret}\n")
    lazy = pl.scan_csv(tmp_path / "rows.csv", schema={"age": pl.Int64})
    with pytest.raises(OSError, match=r"message is withheld|are no text in utf-8") as caught:
        read(lazy)
    assert secret not in "".join(traceback.format_exception(caught.value))


def test_the_file_s_own_values_are_read_whatever_its_folder_is_called(tmp_path):
    (tmp_path / "age=9").mkdir()
    assert read(file(tmp_path / "age=9", "rows.parquet", pa.table({"age": [1, 1]}))) == [(1,), (1,)]


def test_a_file_whose_name_looks_like_a_glob_is_itself(tmp_path):
    for name in ("a[1].csv", "a[1].parquet"):
        file(tmp_path, name.replace("[1]", "1"), ROWS.slice(0, 1))
        assert len(read(file(tmp_path, name))) == 6


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_folder_a_glob_and_a_list_are_the_rows_of_their_files(tmp_path, kind):
    (tmp_path / "rows" / "year=2024").mkdir(parents=True)
    files = [
        file(tmp_path, f"rows/a.{kind}", ROWS.slice(0, 2)),
        file(tmp_path, f"rows/year=2024/b.{kind}", ROWS.slice(2)),
    ]
    for marked in (".hidden", "_SUCCESS"):
        (tmp_path / "rows" / marked).write_text("none")
    everything = read(files[0]) + read(files[1])
    for data in (tmp_path / "rows", str(tmp_path / "rows" / "**" / f"*.{kind}"), files):
        assert read(data) == sorted(everything, key=str)


def test_files_of_several_kinds_or_schemas_are_refused(tmp_path):
    first = file(tmp_path, "a.parquet")
    other = file(tmp_path, "b.parquet", ROWS.set_column(1, "age", ROWS["age"].cast(pa.int32())))
    with pytest.raises(SchemaMismatch, match=r"b.parquet has another schema than .* 'age' is of another type"):
        read([first, other])
    with pytest.raises(SchemaMismatch, match=r"c.parquet has another schema .*: the column 'name' is in only one of"):
        read([first, file(tmp_path, "c.parquet", ROWS.drop_columns("name"))])
    with pytest.raises(SchemaMismatch, match=r"expected a .parquet file"):
        read([first, file(tmp_path, "d.csv")])
    with pytest.raises(SchemaMismatch, match=r"f.csv has other columns"):
        read([file(tmp_path, "e.csv"), file(tmp_path, "f.csv", ROWS.drop_columns("name"))])
    (tmp_path / "empty").mkdir()
    with pytest.raises(OSError, match="holds no file"):
        read(tmp_path / "empty")


def test_a_truncated_file_in_the_middle_is_named(tmp_path):
    files = [file(tmp_path, f"{number}.parquet") for number in range(3)]
    files[1].write_bytes(files[1].read_bytes()[:-20])
    with pytest.raises(OSError, match=r"1.parquet cannot be read as a Parquet file"):
        read(files)
