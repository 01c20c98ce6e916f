"""The same rows, whatever holds them, give the same counts: those of the definition."""

from collections import Counter

import duckdb
import msgspec
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
import xlsxwriter

from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.core.basics.claim import ROW
from dpress.data.sources.open_source import PLAIN, open_source
from dpress.data.specification.file_format import FileFormat
from dpress.data.true_counts import true_counts

ATTRIBUTES = [
    {"name": "age", "kind": "integer", "bounds": [0, 9], "null": "none"},
    {"name": "amount", "kind": "numeric", "edges": [-1.5, 0.1, 0.30000000000000004, 2.25, 100.0], "null": "none"},
    {"name": "city", "kind": "categorical", "values": ["São Paulo", "a,b", "'q'", "007", " x"]},
    {"name": "day", "kind": "categorical", "values": ["2020-01-01", "1960-02-29"]},
]
LISTED = {"other": "else", "null": "none"}
SCHEMA = Schema(tuple(msgspec.convert({**(LISTED if "values" in one else {}), **one}, Attribute) for one in ATTRIBUTES))
VALUES = {
    "age": [0, 9, -5, 1000, None, 3],
    "amount": [0.1, 0.3, 2.25, 99.99, -1.5, 1e6, None],
    "city": ["São Paulo", "a,b", "'q'", "007", "7", " x", "x", None, "new", 'a"b', "é"],
    "day": ["2020-01-01", "1960-02-29", "2021-06-06", None, None],
}
SIZE = 500
ROWS = pa.table({name: pa.array([own[place % len(own)] for place in range(SIZE)]) for name, own in VALUES.items()})
ROWS = ROWS.set_column(3, "day", ROWS["day"].cast(pa.date32()))
TABLES = ((0, 1, 2, 3), (2, 3), (0,))


def parquet(path):
    pq.write_table(ROWS, path / "rows.parquet", row_group_size=70)
    return path / "rows.parquet"


def parquet_folder(path):
    for place, start in enumerate(range(0, SIZE, 125)):
        (path / "rows").mkdir(exist_ok=True)
        pq.write_table(ROWS.slice(start, 125), path / "rows" / f"{place}.parquet")
    return path / "rows"


def partitions(path):
    """A file for every age, which stands in the path alone."""
    for age in VALUES["age"]:
        own = ROWS.filter(ROWS["age"].is_null() if age is None else pa.compute.equal(ROWS["age"], age))
        folder = path / "rows" / f"age={'__HIVE_DEFAULT_PARTITION__' if age is None else age}"
        folder.mkdir(parents=True)
        pq.write_table(own.drop_columns(["age"]), folder / "a.parquet")
    return path / "rows"


def csv(path):
    pyarrow.csv.write_csv(ROWS, path / "rows.csv")
    return path / "rows.csv"


def csv_of_another_encoding(path):
    (path / "rows.csv").write_text(csv(path).read_text(encoding="utf-8"), encoding="cp1252")
    return path / "rows.csv"


def feather(path):
    pyarrow.feather.write_feather(ROWS, path / "rows.feather", chunksize=70)
    return path / "rows.feather"


def stream(path):
    with pa.ipc.new_stream(path / "rows.arrows", ROWS.schema) as writer:
        writer.write_table(ROWS, max_chunksize=70)
    return path / "rows.arrows"


def workbook(path):
    with xlsxwriter.Workbook(path / "rows.xlsx") as book:
        sheet, day = book.add_worksheet("Rows"), book.add_format({"num_format": "yyyy-mm-dd"})
        sheet.write_row(0, 0, ROWS.column_names)
        for place, row in enumerate(ROWS.to_pylist(), 1):
            for column, value in enumerate(row.values()):
                if isinstance(value, str):
                    sheet.write_string(place, column, value)
                elif value is not None:
                    sheet.write(place, column, value, day if column == 3 else None)
    return f"{path / 'rows.xlsx'}#Rows"


def survey(ending):
    def write(path):
        import pyreadstat

        frame = pd.DataFrame(ROWS.to_pydict()).astype({"age": float, "amount": float})
        frame["city"] = frame["city"].astype(object).where(frame["city"].notna(), None)
        writer = {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta, "xpt": pyreadstat.write_xport}[ending]
        writer(frame, path / f"rows.{ending}")
        return path / f"rows.{ending}"

    return write


def duckdb_table(path):
    with duckdb.connect(path / "shop.duckdb") as engine:
        engine.register("given", ROWS)
        engine.execute("CREATE TABLE visits AS SELECT * FROM given")
    return f"{path / 'shop.duckdb'}#visits"


def duckdb_view(path):
    with duckdb.connect(path / "shop.db") as engine:
        engine.register("given", ROWS)
        engine.execute("CREATE TABLE visits AS SELECT * FROM given")
        engine.execute("CREATE VIEW w AS SELECT * REPLACE (age::BIGNUM AS age, day::TIMESTAMP AS day) FROM visits")
    return f"{path / 'shop.db'}#w"


FILES = {
    "parquet": parquet,
    "folder": parquet_folder,
    "partitions": partitions,
    "csv": csv,
    "feather": feather,
    "stream": stream,
    "workbook": workbook,
    **{ending: survey(ending) for ending in ("sav", "dta", "xpt")},
    "duckdb": duckdb_table,
    "view": duckdb_view,
}
FRAMES = {
    "pandas": ROWS.to_pandas,
    "pandas of objects": lambda: pd.DataFrame(
        {name: ROWS[name].to_pylist() for name in ROWS.column_names}, dtype=object
    ),
    "polars": lambda: pl.from_arrow(ROWS),
    "lazy polars": lambda: pl.from_arrow(ROWS).lazy(),
    "arrow": lambda: ROWS,
    "relation": lambda: duckdb.from_arrow(ROWS),
    "dataset": lambda: pyarrow.dataset.dataset(ROWS),
    "reader": ROWS.to_reader,
}


def counted(data, form=PLAIN, engine="threads"):
    return true_counts(SCHEMA, TABLES, open_source(data, form, SCHEMA.tabular, engine=engine), ROW)


@pytest.fixture(scope="module")
def wanted():
    """The counts, from the definition of one value's cell."""
    cells = [[one.codes(value)[0] for value in ROWS[one.name].to_pylist()] for one in SCHEMA.tabular]
    found = []
    for axes in TABLES:
        sizes = tuple(SCHEMA.shape[axis] for axis in axes)
        table = np.zeros(sizes, dtype=np.int64)
        for place, number in Counter(zip(*(cells[axis] for axis in axes), strict=True)).items():
            table[place] = number
        found.append(table.ravel())
    return np.concatenate(found)


@pytest.mark.parametrize("make", FILES)
def test_files_and_databases(make, tmp_path, wanted):
    assert (counted(FILES[make](tmp_path)) == wanted).all()


@pytest.mark.parametrize("make", ["parquet", "folder", "duckdb", "view"])
def test_the_engine_of_sql(make, tmp_path, wanted):
    assert (counted(FILES[make](tmp_path), engine="sql") == wanted).all()


def test_a_file_of_another_encoding(tmp_path, wanted):
    assert (counted(csv_of_another_encoding(tmp_path), FileFormat(encoding="cp1252")) == wanted).all()


@pytest.mark.parametrize("make", FRAMES)
def test_frames(make, wanted):
    assert (counted(FRAMES[make]()) == wanted).all()


@pytest.mark.slow
def test_postgres(new_database, wanted):
    import psycopg

    url = new_database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (age numeric, amount double precision, city varchar(20), day date)")
        with connection.cursor() as cursor:
            rows = [tuple(row.values()) for row in ROWS.to_pylist()]
            cursor.executemany("INSERT INTO t VALUES (%s, %s, %s, %s)", rows)
    for engine in ("threads", "sql"):
        assert (counted(f"{url}#t", engine=engine) == wanted).all()


def test_one_row_more_or_another_value_is_noticed(wanted):
    assert (counted(pa.concat_tables([ROWS, ROWS.slice(0, 1)])) != wanted).any()
    other = ROWS.set_column(2, "city", pa.array(["new", *ROWS["city"].to_pylist()[1:]]))
    assert (counted(other) != wanted).any()
