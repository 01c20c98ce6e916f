"""A release in DuckDB: every published table a view, with its standard errors and intervals beside the counts."""

from pathlib import Path
from typing import Any

from dpress.query.load import load_release
from dpress.query.record_files import NAME
from dpress.query.release import Release
from dpress.query.sql.query_in_sql import quoted_name

RECORDS = "records"


def attach(connection: Any, release: Release | str | Path, *, schema: str = "release") -> tuple[str, ...]:
    """Register the tables of a release in a DuckDB connection, and return the names of the views.

    A table of age and sex is the view `release.age_sex` with the columns of its file, `count`, `standard_error`, `low`
    and `high` among them; records are `release.records`. Each is in memory while the connection is open.

    Args:
        connection: of `duckdb.connect()`.
        release: a release, or the path of its folder.
        schema: that the views are made in; made where it is not there.

    Raises:
        ValueError: there are such views already.

    >>> import dpress, duckdb, pyarrow as pa
    >>> age = {"name": "age", "kind": "integer", "bounds": [0, 99], "bins": 10}
    >>> plain = {"attribute": [age], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}
    >>> connection = duckdb.connect()
    >>> dpress.attach(connection, dpress.publish(dpress.load_spec(plain), pa.table({"age": [34] * 900})))
    ('release.age',)
    >>> connection.execute("select sum(count) between 800 and 1000 from release.age").fetchone()
    (True,)
    """
    loaded = load_release(release) if isinstance(release, str | Path) else release
    records = loaded.answers.tables.keys() == {NAME}
    views = {RECORDS if records else "_".join(names): table for names, table in loaded.tables.items()}
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted_name(schema)}")
    there = connection.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = ?", [schema])
    if taken := sorted(views.keys() & {name for (name,) in there.fetchall()}):
        raise ValueError(f"{schema}.{taken[0]} is there already; attach under another `schema`")
    for name, table in views.items():
        connection.register(f"{schema}__{name}", table.to_arrow())
        view = f"{quoted_name(schema)}.{quoted_name(name)}"
        connection.execute(f"CREATE VIEW {view} AS SELECT * FROM {quoted_name(f'{schema}__{name}')}")  # noqa: S608  # quoted
    return tuple(f"{schema}.{name}" for name in views)
