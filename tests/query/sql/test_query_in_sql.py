"""Queries as SQL: what is written is read back as the same rows, and refusals over a folder of releases say it."""

import pytest
from tests.release.statements.wards import SPEC, rows

from dpress import load_spec
from dpress.core.basics import rng
from dpress.query.boxes import products
from dpress.query.condition_grammar import conditions
from dpress.query.grammar import read
from dpress.query.sql.columns import Columns
from dpress.query.sql.query_in_sql import condition_in_sql, in_sql
from dpress.query.sql.reader import statements
from dpress.query.sql.sql_refusal import SqlRefusal
from dpress.release.statements.plan_statements import ANY, plan_statements
from dpress.release.statements.publish_statements import publish_statements

SCHEMA = load_spec(SPEC, release=ANY).schema


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("ward = eyes", "ward = 'eyes'"),
        ("not (ward = eyes or size < 2)", "not (ward = 'eyes' or size < 2)"),
        ("ward != eyes and age in 20..39", "ward <> 'eyes' and age between 20 and 39"),
        ("(ward in (eyes, ear) or size >= 3) and age > 50", "(ward in ('eyes', 'ear') or size >= 3) and age > 50"),
        ("total", "true"),
    ],
)
def test_a_condition_is_read_back_as_the_same_rows(text, written) -> None:
    rows_of = conditions(SCHEMA.names, text)
    assert condition_in_sql(rows_of) == written
    where = "" if text == "total" else f" where {written}"
    (statement,) = statements(sql := f"select count(*) from r{where}", Columns(text=sql, attributes=SCHEMA.tabular))
    again = statement.where or rows_of
    assert str(products(SCHEMA, again)) == str(products(SCHEMA, rows_of))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("count where ward = eyes", "count(*) where ward = 'eyes'"),
        ("median size", "percentile_cont(0.5) within group (order by size)"),
        ("ratio size < 2 / size > 2", "count(*) filter (where size < 2) / count(*) filter (where size > 2)"),
        ("sum age where size = 1", "sum(age) where size = 1"),
    ],
)  # fmt: skip
def test_a_number_is_written_as_sql_has_it(text, written) -> None:
    assert in_sql(read(SCHEMA.names, text)) == written


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    sql = "select count(*) from v where ward = 'eyes' and size > 1; select ward, avg(age) from v group by ward"
    planned = plan_statements({**SPEC, "privacy": {"epsilon": 1.0}}, sql)
    return publish_statements(planned, rows(), out=tmp_path_factory.mktemp("a") / "out", rng=rng.seeded(1))


@pytest.mark.parametrize(
    ("sql", "number"),
    [
        ("select count(*) from r where size = 1", "count(*) where size = 1"),
        ("select avg(age) from r where age < 50 or ward = 'ear'", "avg(age) where age < 50 or ward = 'ear'"),
        ("select count(*) filter (where size = 3) / count(*) from r", "count(*) filter (where size = 3) / count(*)"),
    ],
)
def test_a_further_question_is_refused_in_sql(folder, sql, number) -> None:
    with pytest.raises(SqlRefusal) as refusal:
        folder.sql_tables(sql)
    assert str(refusal.value) == f"{number} does not follow from what was measured for: {folder.sql}"
    assert refusal.value.caret == ""


def test_what_follows_is_answered(folder) -> None:
    (answer,) = folder.sql_tables("select ward, count(*) from r group by ward")
    assert answer.table.num_rows == 3
