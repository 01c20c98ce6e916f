"""Codes of large trees in a database: it groups by them, no row leaves it, and the counts are those of the codec."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpress
from dpress.attributes.domain import Schema
from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources.duckdb_rows import DuckdbRows
from dpress.data.sources.open_source import open_source
from dpress.data.sources.parquet_rows import ParquetRows
from dpress.data.true_counts import true_counts

CODES = [f"{state}{county}{tract:02}" for state in "abc" for county in "123" for tract in range(40)]
ROWS = 5_000


def schema(other: str = "drop") -> Schema:
    place = {"name": "place", "kind": "hierarchy", "column": "code", "levels": ["state", "county", "tract"]}
    place |= {"prefix": [1, 2, 4], "values": CODES, "other": other}
    sex = {"name": "sex", "kind": "categorical", "values": ["f", "m"], "other": "?"}
    plain = {"attribute": [place, sex], "privacy": {"rho": 1}, "release": {"kind": "histogram"}}
    return dpress.load_spec(plain).schema


def people() -> pa.Table:
    places = np.arange(ROWS) * 7919 % (len(CODES) + 7)
    codes = [*CODES, "", "zz", "a1", None, "a100 ", "A100", "9"]
    return pa.table(
        {"code": [codes[place] for place in places], "sex": [("f", "m", "x", None)[row % 4] for row in range(ROWS)]}
    )


@pytest.fixture(params=["database", "file"])
def rows(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    table = people()
    if request.param == "file":
        pq.write_table(table, tmp_path / "people.parquet")
        return open_source(str(tmp_path / "people.parquet"), engine="sql")
    with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
        connection.register("arrow_rows", table)
        connection.execute("CREATE TABLE people AS SELECT * FROM arrow_rows")
    return open_source(f"{tmp_path / 'people.duckdb'}#people", engine="sql")


TABLES = [(0, 1), (0,), (), (1,)]


@pytest.mark.parametrize("other", ["drop", "elsewhere"])
def test_counts_are_those_of_the_codec_and_only_groups_leave_the_engine(
    rows: Any, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups: list[int] = []

    def watch(source: Any) -> None:
        fetch = source.fetch

        def watched(self: Any, statement: str) -> pa.Table:
            answer = fetch(self, statement)
            groups.append(answer.num_rows)
            return answer

        monkeypatch.setattr(source, "fetch", watched)
        monkeypatch.setattr(source, "parts", None)  # rows are not read

    watch(DuckdbRows)
    watch(ParquetRows)
    expected = true_counts(schema(other), TABLES, people(), ROW)
    assert np.array_equal(true_counts(schema(other), TABLES, rows, ROW), expected)
    assert groups
    assert all(count <= 4 * (len(CODES) + 7) < ROWS for count in groups)
    assert expected[-3:].sum() < ROWS if other == "drop" else expected[-3:].sum() == ROWS


def test_what_the_specification_rejects_is_refused_without_its_value(rows: Any) -> None:
    with pytest.raises(SchemaMismatch, match="attribute place: a value is") as refusal:
        true_counts(schema("reject"), TABLES, rows, ROW)
    assert "zz" not in str(refusal.value)


def test_no_rows_are_refused(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "people.duckdb")) as connection:
        connection.execute("CREATE TABLE people (code VARCHAR, sex VARCHAR)")
    with pytest.raises(SchemaMismatch, match="has no rows"):
        true_counts(schema(), TABLES, open_source(f"{tmp_path / 'people.duckdb'}#people", engine="sql"), ROW)
