"""Rows as a file of some format, or a table of a database: what a source is opened from."""

import duckdb
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq


def csv(place, rows):
    pyarrow.csv.write_csv(rows, place / "rows.csv")
    return place / "rows.csv"


def parquet(place, rows):
    pq.write_table(rows, place / "rows.parquet", row_group_size=70)
    return place / "rows.parquet"


def feather(place, rows):
    pyarrow.feather.write_feather(rows, place / "rows.feather")
    return place / "rows.feather"


def database(place, rows):
    (place / "rows.duckdb").unlink(missing_ok=True)
    with duckdb.connect(place / "rows.duckdb") as engine:
        engine.register("given", rows)
        engine.execute("CREATE TABLE visits AS SELECT * FROM given")
    return f"{place / 'rows.duckdb'}#visits"
