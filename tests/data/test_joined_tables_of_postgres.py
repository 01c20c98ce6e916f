"""Tables of PostgreSQL that are joined by their persons: its own join's rows, however a type compares."""

from collections import Counter

import pytest

from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources.open_source import open_source
from dpress.data.table import Table

pytestmark = pytest.mark.slow
TABLES = """
CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN years AS smallint;
CREATE TABLE visits (person integer, ward char(5), cost numeric(9,2));
CREATE TABLE persons (person bigint, mood mood, "Age" years);
INSERT INTO visits VALUES (1, 'ear', 1.5), (1, 'ear', 2.5), (1, 'eyes', 0), (2, 'ear', 7), (4, 'eyes', 8);
INSERT INTO persons VALUES (1, 'ok', 30), (1, 'sad', 31), (2, NULL, 32), (3, 'ok', 33);
"""
COLUMNS = ("person", "ward", "cost", "mood", "Age")


@pytest.fixture
def postgres(new_database):
    """What runs a statement in a database of PostgreSQL of this test, and that database's URL."""
    import psycopg

    url = new_database()

    def run(statement):
        with psycopg.connect(url, autocommit=True) as connection:
            answer = connection.execute(statement)
            return answer.fetchall() if answer.description else None

    run.url = url
    return run


def rows(table):
    return [row for batch in table.batches() for row in zip(*batch.to_pydict().values(), strict=True)]


def joined(postgres, tables, engine=None):
    return open_source(f"{postgres.url}#{tables}", unit=("person",), engine=engine)


@pytest.mark.parametrize("join", ["join", "left join"])
def test_rows_are_those_of_the_databases_join(postgres, join):
    postgres(TABLES)
    truth = postgres(f'SELECT person, ward::text, cost, mood::text, "Age" FROM visits {join} persons USING (person)')
    table = joined(postgres, f"public.visits {join} persons using (person)")
    batches = [batch for part in table.source.parts(COLUMNS) for batch in part.batches()]
    assert Counter(row for batch in batches for row in zip(*batch.to_pydict().values(), strict=True)) == Counter(truth)


@pytest.mark.parametrize("engine", ["sql", "threads"])
def test_a_person_keeps_as_many_joined_rows_as_the_cap(postgres, engine):
    postgres(TABLES)
    source = joined(postgres, "visits join persons using (person)", engine)
    kept = rows(Table(source, ("person", "ward", "mood", "Age"), Unit(column="person", rows=2)).drawn())
    assert sorted(row[0] for row in kept) == [1, 1, 2]


def test_texts_are_equal_byte_by_byte(oldest_postgres):
    """Which its collation folds: there A and a are one person, and two wherever rows are capped."""
    import psycopg

    with psycopg.connect(oldest_postgres, autocommit=True) as connection:
        connection.execute(
            "CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
        connection.execute("CREATE TABLE folded_a (person text COLLATE folded)")
        connection.execute("CREATE TABLE folded_b (person text COLLATE folded, x int)")
        connection.execute("INSERT INTO folded_a VALUES ('A'); INSERT INTO folded_b VALUES ('a', 1), ('A', 2)")
        answer = connection.execute("SELECT count(*) FROM folded_a JOIN folded_b USING (person)")
        assert answer.fetchall() == [(2,)]
    tables = f"{oldest_postgres}#folded_a join folded_b using (person)"
    (part,) = open_source(tables, unit=("person",)).source.parts(("x",))
    assert [batch.to_pydict() for batch in part.batches()] == [{"x": [2]}]


def test_messages_name_the_tables_and_no_row(postgres):
    postgres("CREATE TABLE a AS SELECT 4711 AS person; CREATE TABLE b AS SELECT 4711.0 AS person")
    with pytest.raises(SchemaMismatch, match="'person' of a is integer and that of b numeric") as refusal:
        joined(postgres, "a join b using (person)")
    assert "4711" not in str(refusal.value)
    with pytest.raises(SchemaMismatch, match="no table or view 'c'"):
        joined(postgres, "a join c using (person)")
    with pytest.raises(SchemaMismatch, match="the database: `on` may give one person's rows to another"):
        joined(postgres, "a join b on true")
    postgres("CREATE TABLE d AS SELECT 4711 AS person, 1 AS x")
    with pytest.raises(SchemaMismatch, match=r"table 'a join d using \(person\)' in PostgreSQL has no column 'y'"):
        joined(postgres, "a join d using (person)").source.parts(("y",))
