"""Columns that the paths of files state: texts, and only where no file has them."""

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources.files import folder_of
from dpress.data.sources.open_source import open_source
from dpress.data.table import Table


def rows(data, *columns):
    batches = list(Table(data, columns, ROW).batches())
    return sorted(
        (row for batch in batches for row in zip(*batch.to_pydict().values(), strict=True)),
        key=str,
    )


@pytest.fixture(params=["parquet", "csv"])
def folder(request, tmp_path):
    """What writes tables below `rows` and returns that folder."""

    def write(tables):
        for place, (path, table) in enumerate(tables.items()):
            own = tmp_path / "rows" / path / f"{place}.{request.param}"
            own.parent.mkdir(parents=True, exist_ok=True)
            writer = pq.write_table if request.param == "parquet" else pyarrow.csv.write_csv
            writer(table, own)
        return tmp_path / "rows"

    return write


ONE, TWO = pa.table({"age": ["1", "2"]}), pa.table({"age": ["3"]})


def test_a_column_of_the_paths_is_text(folder):
    data = folder({"year=2024/month=01": ONE, "year=2025/month=1": TWO})
    assert rows(data, "age", "month", "year") == [("1", "01", "2024"), ("2", "01", "2024"), ("3", "1", "2025")]
    assert rows(data, "month") == [("01",), ("01",), ("1",)]
    assert rows(f"{data}/year=*/*/*", "year", "month", "age")[0] == ("2024", "01", "1")
    assert open_source(data).source.columns() == ["age", "year", "month"]


def test_percent_signs_are_decoded_and_a_missing_value_is_null(folder):
    data = folder({"a city=S%C3%A3o%20Paulo%2F": ONE, "a city=__HIVE_DEFAULT_PARTITION__": TWO})
    assert rows(data, "age", "a city") == [("1", "S\u00e3o Paulo/"), ("2", "S\u00e3o Paulo/"), ("3", None)]


def test_a_column_of_the_files_wins_and_what_only_some_paths_state_is_none(folder):
    data = folder({"age=7/sex=f": ONE, "age=8": TWO})
    assert rows(data, "age") == [("1",), ("2",), ("3",)]
    with pytest.raises(SchemaMismatch, match="no column 'sex'"):
        rows(data, "sex")


def test_what_stands_above_the_folder_states_nothing(folder):
    data = folder({"year=2024": ONE})
    for inner in (data / "year=2024", f"{data}/year=2024/*", next((data / "year=2024").iterdir())):
        with pytest.raises(SchemaMismatch, match="no column 'year'"):
            rows(inner, "year")


def test_the_folder_of_a_glob_is_what_stands_before_its_first_sign(tmp_path):
    assert str(folder_of("a/b=1/*/c=*.parquet")) == "a/b=1"
    assert str(folder_of("*.parquet")) == "."
    assert folder_of(tmp_path) == tmp_path
    assert folder_of("a/b.parquet") is None
    assert folder_of(["a/b.parquet"]) is None
