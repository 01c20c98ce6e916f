"""Statements over tables that are joined by their persons: planned, published, read back; anything else is refused."""

import duckdb
import pyarrow as pa
import pytest

from dpress import Ledger, Session, load_spec, publish
from dpress.core.basics.errors import SchemaMismatch
from dpress.query.sql.sql_refusal import SqlRefusal
from dpress.query.sql.statements_folder import load_statements
from dpress.release.statements.plan_statements import plan_statements
from dpress.release.statements.publish_statements import publish_statements

PLAIN = {
    "attribute": [
        {"name": "ward", "kind": "categorical", "values": ["ear", "eyes"]},
        {"name": "sex", "kind": "categorical", "values": ["f", "m"], "null": "unknown"},
        {"name": "cost", "kind": "numeric", "bounds": [0, 100], "bins": 10},
    ],
    "privacy": {"epsilon": 20.0, "unit": "person", "rows_per_unit": 2},
}
JOIN = "visits v left join persons p using (person)"
TEXT = f"select ward, sex, count(*) from {JOIN} group by ward, sex; select avg(cost), count(*) from {JOIN}"


@pytest.fixture
def shop(tmp_path):
    """A database in which every person has three visits, and every second one a sex."""
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(path) as engine:
        engine.execute("""
            CREATE TABLE visits AS SELECT range % 500 AS person, 40.0 AS cost,
                CASE WHEN range % 500 < 100 THEN 'ear' ELSE 'eyes' END AS ward FROM range(1500);
            CREATE TABLE persons AS SELECT range AS person, 'f' AS sex FROM range(0, 500, 2);
        """)
    return path


@pytest.fixture(scope="module")
def planned():
    return plan_statements(PLAIN, TEXT)


def test_answers_are_counts_of_the_join_under_the_cap(planned, shop, tmp_path):
    ledger = tmp_path / "ledger.sqlite"
    publish_statements(planned, shop, out=tmp_path / "out", ledger=ledger)
    made = load_statements(tmp_path / "out")
    truth = {("ear", "f"): 100, ("ear", None): 100, ("eyes", "f"): 400, ("eyes", None): 400}
    for row in made.answer(1).table.to_pylist():
        assert abs(row["count"] - truth.get((row["ward"], row["sex"]), 0)) < 6 * row["count_error"]
    (row,) = made.answer(2).table.to_pylist()
    assert abs(row["count"] - 1000) < 6 * row["count_error"]
    assert abs(row["avg"] - 40) < 6 * row["avg_error"] + 5
    assert Ledger.open(ledger).summary().unit.columns == ("person",)


@pytest.mark.parametrize("named", ["", "#visits", f"#{JOIN}", '#"visits" left join persons using (person)'])
def test_the_source_is_the_database_or_what_the_statements_say(shop, named):
    spec = load_spec({**PLAIN, "data": {"source": f"{shop}{named}"}}, release={"kind": ""})
    source = plan_statements(spec, f"select count(*) from {JOIN}").spec.source
    assert source == f"{shop}#visits left join persons using (person)"


def test_a_source_may_name_the_join_and_the_statements_any_table(shop, tmp_path):
    source = f"{shop}#visits join persons using (person)"
    spec = {**PLAIN, "data": {"source": source}, "release": {"kind": "histogram", "attributes": ["sex"]}}
    assert abs(publish(spec).results("total")[0].value - 500) < 50
    made = publish_statements(plan_statements(spec, "select count(*) from rows"), out=tmp_path / "out")
    assert abs(made.answer(1).table["count"][0].as_py() - 500) < 50


@pytest.mark.parametrize(
    "named", ["#letters", "#visits join persons using (person)", "#persons join visits using (person)"]
)
def test_other_rows_than_those_of_the_statements_are_refused(planned, shop, tmp_path, named):
    with pytest.raises(SchemaMismatch, match=r"over visits left join persons using .* name the database"):
        publish_statements(planned, f"{shop}{named}", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("rows", ["rows.csv", pa.table({"ward": ["ear"]})])
def test_what_is_no_database_joins_nothing(planned, tmp_path, rows):
    with pytest.raises(
        SchemaMismatch, match=r"name it as the source.*in Spark visits.join\(persons, on=\['person'\]\)"
    ):
        publish_statements(planned, rows, out=tmp_path / "out")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("select count(*) from visits join persons on visits.person = persons.person", "`on` may give one person's"),
        ("select count(*) from visits join persons using (ward)", r"expected `using \(person\)`"),
        ("select count(*) from visits, persons", "gives each person's rows to all others"),
        ("select count(*) from visits right join persons using (person)", "begin with persons"),
        ("select count(*) from visits join (select 1 as person) p using (person)", "by their names"),
        (f"select count(*) from {JOIN}; select count(*) from visits", "all statements are over the same rows"),
        (f"select count(*) from {JOIN}; select count(*) from visits join persons using (person)", "over the same rows"),
        ("select count(*) from visits where ward in (select w from a join b using (person))", "joined to nothing"),
    ],
)
def test_what_mixes_persons_or_rows_is_refused_with_its_place(text, words):
    with pytest.raises(SqlRefusal, match=words) as refusal:
        plan_statements(PLAIN, text)
    assert "\n" not in str(refusal.value)
    assert refusal.value.start is not None


def test_rows_without_persons_are_not_joined():
    with pytest.raises(SqlRefusal, match="where rows are protected there are none"):
        plan_statements({**PLAIN, "privacy": {"epsilon": 1}}, f"select count(*) from {JOIN}")


def test_a_release_that_is_made_is_joined_to_nothing(planned, shop, tmp_path):
    made = publish_statements(planned, shop, out=tmp_path / "out")
    with pytest.raises(SqlRefusal, match="a release is one table, which is joined to nothing"):
        made.sql_tables(f"select count(*) from {JOIN}")


def test_a_session_joins_and_offers_what_is_over_the_same_tables_alone(shop, tmp_path):
    session = Session(PLAIN, f"{shop}#visits", ledger=tmp_path / "ledger.sqlite", out=tmp_path / "session")
    by_sex = f"select sex, count(*) from {JOIN} group by sex"
    session.accept(session.propose(by_sex, spend=4))
    inner = f"select count(*) from {JOIN.replace('left ', '')}"
    assert session.propose(inner, spend=4).free is None
    assert session.propose("select count(*) from visits", spend=4).free is None
    again = session.propose(f"select count(*) from {JOIN}", spend=4)
    assert again.free is not None
    table = session.accept(again)
    assert abs(table.table["count"][0].as_py() - 1000) < 6 * again.errors[0].error
    # which rows of a person are counted every release draws anew: its count is not combined with an earlier one
    assert table.table["count_error"][0].as_py() == pytest.approx(again.errors[0].error)
