"""A column whose name several have is refused wherever it is needed, and nowhere else; none is taken for another."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import xlsxwriter

from dpress.attributes.domain import Schema
from dpress.attributes.listed.attribute import Categorical
from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources.open_source import open_source
from dpress.data.specification.file_format import FileFormat
from dpress.data.true_counts import true_counts

NAMES = ["age", "age", "sex", "Sex", "city"]
ROWS = [["1", "2", "2", "1", "1"]] * 4
TABLE = pa.table([pa.array(own) for own in zip(*ROWS, strict=True)], names=NAMES)
CASE_ALONE = pa.table({"age": ["1"] * 4, "Age": ["2"] * 4, "city": ["1"] * 4})


def counted(name, data, written=FileFormat(), engine=None):  # noqa: B008  # frozen
    """Return how many rows have 1 and 2 in a column."""
    attribute = Categorical(name=name, values=("1", "2"))
    rows = open_source(data, written, engine=engine)
    return true_counts(Schema((attribute,)), [(0,)], rows, ROW).tolist()


def text(place, encoding="utf-8"):
    lines = "\n".join(",".join(one) for one in [NAMES, *ROWS])
    (place / "rows.csv").write_text(lines + "\n", encoding=encoding)
    return place / "rows.csv"


def parquet(place, table=TABLE):
    pq.write_table(table, place / "rows.parquet")
    return place / "rows.parquet"


def feather(place):
    pyarrow.feather.write_feather(CASE_ALONE, place / "rows.feather")  # it refuses a name twice
    return place / "rows.feather"


def workbook(place):
    with xlsxwriter.Workbook(place / "rows.xlsx") as book:
        sheet = book.add_worksheet()
        for row, own in enumerate([NAMES, *ROWS]):
            sheet.write_row(row, 0, own)
    return place / "rows.xlsx"


def pandas(_):
    frame = pd.DataFrame(ROWS)
    frame.columns = NAMES
    return frame


EXACT = {  # upper and lower case differ there
    "parquet": lambda place: (parquet(place), {}),
    "table": lambda _: (TABLE, {}),
    "batches": lambda _: (TABLE.to_batches()[0], {}),
    "pandas": lambda place: (pandas(place), {}),
    "workbook": lambda place: (workbook(place), {}),
    "text": lambda place: (text(place), {}),
    "text with a header": lambda place: (text(place), {"written": FileFormat(header=True)}),
    "text of windows": lambda place: (text(place, "cp1252"), {"written": FileFormat(encoding="cp1252")}),
}
FOLDING = {
    "parquet by SQL": lambda place: (parquet(place), {"engine": "sql"}),
    "relation": lambda _: (duckdb.sql("SELECT '1' age, '2' age, '2' sex, '1' \"Sex\", '1' city FROM range(4)"), {}),
}


@pytest.mark.parametrize("source", EXACT | FOLDING)
def test_a_column_that_is_there_twice_is_refused_where_it_is_needed(source, tmp_path):
    data, options = (EXACT | FOLDING)[source](tmp_path)
    with pytest.raises(SchemaMismatch, match=r"has 2 columns called 'age'; rename all but one$"):
        counted("age", data, **options)
    for made_up in ("age_1", "age_2"):  # as engines call the second
        with pytest.raises(SchemaMismatch, match=f"has no column '{made_up}'"):
            counted(made_up, data, **options)
    assert counted("city", data, **options) == [4, 0]


@pytest.mark.parametrize("source", EXACT)
def test_columns_that_differ_in_case_are_two_where_no_engine_takes_them_for_one(source, tmp_path):
    data, options = EXACT[source](tmp_path)
    assert (counted("sex", data, **options), counted("Sex", data, **options)) == ([0, 4], [4, 0])


@pytest.mark.parametrize("source", FOLDING)
def test_columns_that_differ_in_case_are_refused_where_an_engine_takes_them_for_one(source, tmp_path):
    data, options = FOLDING[source](tmp_path)
    for name in ("sex", "Sex"):
        with pytest.raises(
            SchemaMismatch,
            match=rf"2 columns called '{name}' in upper or lower case \('sex', 'Sex'\); rename all but one",
        ):
            counted(name, data, **options)


def test_sources_that_name_each_column_once(tmp_path):
    for data in (feather(tmp_path), pl.from_arrow(CASE_ALONE), pl.from_arrow(CASE_ALONE).lazy()):
        assert (counted("age", data), counted("Age", data)) == ([4, 0], [0, 4])


def test_a_column_beside_two_of_its_stem_is_refused_where_an_engine_would_call_one_so(tmp_path):
    table = pa.table([["1"] * 4, ["2"] * 4, ["1"] * 4], names=["age", "age", "age_1"])
    assert counted("age_1", parquet(tmp_path, table)) == [4, 0]
    with pytest.raises(SchemaMismatch, match="has 'age_1' beside several columns called 'age'; rename these"):
        counted("age_1", parquet(tmp_path, table), engine="sql")


@pytest.mark.long
@pytest.mark.slow
def test_spark(spark_session):
    row = "'1' AS age, '2' AS age, '2' AS sex, '1' AS Sex, '1' AS city"
    frame = spark_session.range(4).selectExpr(*row.split(", "))
    for name in ("age", "sex", "Sex"):
        with pytest.raises(SchemaMismatch, match=f"has 2 columns called '{name}'"):
            counted(name, frame)
    assert counted("city", frame) == [4, 0]


@pytest.mark.parametrize("names", [("age", "Age", "AGE_1"), ("Age", "age", "age_1"), ("AGE_1", "Age", "age")])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_exact_names_of_text_win_whatever_their_order_and_whatever_the_engine_calls_the_others(
    tmp_path, names, encoding
):
    (tmp_path / "rows.csv").write_text(",".join(names) + "\n1,2,x\n" + "1,2,x\n", encoding=encoding)
    written = FileFormat(encoding=encoding)
    assert open_source(tmp_path / "rows.csv", written).source.columns() == list(names)
    assert counted(names[0], tmp_path / "rows.csv", written) == [2, 0]
    assert counted(names[1], tmp_path / "rows.csv", written) == [0, 2]
    stated = FileFormat(encoding=encoding, header=names, skip=1)
    assert counted(names[1], tmp_path / "rows.csv", stated) == [0, 2]
    with pytest.raises(SchemaMismatch, match="no column 'aGe'"):
        counted("aGe", tmp_path / "rows.csv", written)
