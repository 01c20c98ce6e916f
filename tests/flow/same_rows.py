"""The same rows, wherever they are, and what counts them there."""

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet as pq

OWN = np.array([1, 2, 5, 9])  # rows of a person, of forty in turn
PERSONS = np.repeat(np.arange(40), OWN[np.arange(40) % 4])
PLACE = np.arange(len(PERSONS)) * 7
ROWS = pa.table(
    {
        "uid": [f"p {one}" for one in PERSONS.tolist()],
        "age": pa.array(PLACE % 83, mask=PLACE % 41 == 0),
        "pay": PLACE % 101 * 10.5,
        "sex": pa.array(["M", "F", None, "x"]).take(pa.array(PLACE % 9 % 4)),
        "lon": np.round(-74.0 + PLACE % 97 / 400, 4),
        "lat": np.round(40.6 + PLACE % 89 / 400, 4),
        "year": (2020 + PLACE % 2).astype(str),
        "day": pa.array(19_700 + PLACE % 400, pa.int32(), mask=PLACE % 37 == 0).cast(pa.date32()),
        "at": pa.array(1_711_900_000_000_000 + PLACE * 1_234_567_891).cast(pa.timestamp("us")),
    }
)


def parquet(path):
    pq.write_table(ROWS, path / "rows.parquet", row_group_size=60)
    return path / "rows.parquet"


def folder(path):
    """Two files for each of two years, which stand in the paths alone."""
    for year in ("2020", "2021"):
        own = ROWS.filter(pa.compute.equal(ROWS["year"], year)).drop_columns(["year"])
        (path / "folder" / f"year={year}").mkdir(parents=True)
        for number in range(2):
            half = own.slice(number * 40, 40 if number == 0 else None)
            pq.write_table(half, path / "folder" / f"year={year}" / f"{number}.parquet")
    return path / "folder"


def pattern(path):
    for number in range(3):
        pq.write_table(ROWS.slice(number * 60, 60 if number < 2 else None), path / f"part{number}.parquet")
    return path / "part*.parquet"


def text(path):
    pyarrow.csv.write_csv(ROWS, path / "rows.csv")
    return path / "rows.csv"


def arrow(path):
    pyarrow.feather.write_feather(ROWS, path / "rows.arrow", chunksize=50)
    return path / "rows.arrow"


def duckdb_table(path):
    with duckdb.connect(path / "shop.duckdb") as engine:
        engine.register("given", ROWS)
        engine.execute("CREATE TABLE visits AS SELECT * FROM given")
        engine.execute("CREATE TYPE who AS ENUM (SELECT DISTINCT uid FROM visits)")
        engine.execute("CREATE VIEW seen AS SELECT * REPLACE (uid::who AS uid, age::HUGEINT AS age) FROM visits")
    return f"{path / 'shop.duckdb'}#visits"


def duckdb_view(path):
    return duckdb_table(path).replace("#visits", "#seen")


FILES = {
    "parquet": (parquet, ("threads", "sql", "spark")),
    "folder": (folder, ("threads", "spark")),
    "pattern": (pattern, ("threads", "sql", "spark")),
    "csv": (text, ("threads", "spark")),
    "arrow": (arrow, ("threads", "spark")),
    "duckdb": (duckdb_table, ("threads", "sql")),
    "view": (duckdb_view, ("threads", "sql")),
    "pandas": (lambda _: ROWS.to_pandas(), ("threads",)),
    "polars": (lambda _: pl.from_arrow(ROWS), ("threads",)),
    "lazy": (lambda _: pl.from_arrow(ROWS).lazy(), ("threads",)),
    "pyarrow": (lambda _: ROWS, ("threads",)),
    "dataset": (lambda _: pyarrow.dataset.dataset(ROWS), ("threads",)),
    "relation": (lambda _: duckdb.from_arrow(ROWS), ("threads", "sql")),
}


def to_postgres(url):
    """Make a table and a view of these rows."""
    import psycopg

    kinds = "uid text, age numeric, pay double precision, sex char(3), lon float8, lat numeric(20,10), year varchar"
    kinds += ", day date, at timestamp"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE visits ({kinds})")
        with connection.cursor() as cursor, cursor.copy("COPY visits FROM STDIN") as copy:
            for row in ROWS.to_pylist():
                copy.write_row(list(row.values()))
        connection.execute("CREATE VIEW seen AS SELECT * FROM visits")
