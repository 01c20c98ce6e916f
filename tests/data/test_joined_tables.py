"""Tables of a database that are joined by their persons: what a database's join gives, and nothing that mixes them."""

import itertools
from collections import Counter

import duckdb
import pytest

from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources.open_source import open_source
from dpress.data.sql.coded_rows import relation_of
from dpress.data.sql.person_rows import bounded_rows
from dpress.data.table import Table

PERSON = ("person",)
TABLES = """
CREATE TABLE visits AS SELECT * FROM
    (VALUES (1, 'ear'), (1, 'ear'), (1, 'eyes'), (2, 'ear'), (4, 'eyes')) t(person, ward);
CREATE TABLE persons AS SELECT * FROM (VALUES (1, 'f'), (1, 'm'), (2, 'm'), (3, 'f')) t(person, sex);
CREATE TABLE letters AS SELECT * FROM (VALUES (1, 'a'), (2, 'b')) t(person, sent);
"""


@pytest.fixture
def shop(tmp_path):
    """What runs a statement in a new database of DuckDB, and gives its path."""

    def make(statement=TABLES):
        path = tmp_path / "shop.duckdb"
        with duckdb.connect(path) as engine:
            engine.execute(statement)
        return path

    return make


def rows(source, columns, unit=PERSON):
    batches = [batch for part in open_source(source, unit=unit).source.parts(columns) for batch in part.batches()]
    return Counter(row for batch in batches for row in zip(*batch.to_pydict().values(), strict=True))


JOINS = [
    "visits join persons using (person)",
    "visits left join persons using (PERSON)",
    'visits AS v LEFT OUTER JOIN main.persons AS p USING ("person")',
    "persons inner join visits using (person) left join letters using (person)",
]


@pytest.mark.parametrize("tables", JOINS)
def test_rows_are_those_of_the_databases_join(shop, tables):
    path = shop()
    with duckdb.connect(path, read_only=True) as engine:
        truth = Counter(engine.execute(f"SELECT person, sex, ward FROM {tables}").fetchall())
    assert rows(f"{path}#{tables}", ("person", "sex", "ward")) == truth
    source = open_source(f"{path}#{tables}", unit=PERSON).source
    assert source.fetch(f"SELECT count(*) AS n FROM {source.relation}")["n"].to_pylist() == [truth.total()]


@pytest.mark.parametrize("engine", ["sql", "threads"])
def test_a_person_keeps_as_many_joined_rows_as_the_cap(shop, engine):
    source = open_source(f"{shop()}#visits join persons using (person)", engine=engine, unit=PERSON)
    table = Table(source, ("ward", "sex"), Unit(column="person", rows=2)).drawn()
    kept = [row for batch in table.batches() for row in zip(*batch.to_pydict().values(), strict=True)]
    assert len(kept) == 2 + 1
    assert ("ear", "m") in kept


REFUSED = [
    ("visits join persons on visits.person = persons.person", "`on` may give one person's rows to another"),
    ("visits v join persons p on v.ward = p.sex", "`on` may give one person's rows to another"),
    ("visits join persons using (ward)", r"expected `using \(person\)`, the `unit`"),
    ("visits join persons using (person, ward)", r"expected `using \(person\)`"),
    ('visits join persons using ("PERSON")', r"expected `using \(person\)`"),
    ("visits cross join persons", "gives each person's rows to all others"),
    ("visits, persons", "gives each person's rows to all others"),
    ("visits join persons", "gives each person's rows to all others"),
    ("visits right join persons using (person)", "begin with persons and `left join` the others"),
    ("visits full join persons using (person)", "a full join adds rows of persons"),
    ("visits natural join persons", "a natural join compares whatever columns have one name"),
    ("visits semi join persons using (person)", "only inner and left joins"),
    ("visits outer join persons using (person)", "only inner and left joins"),
    ("visits asof join persons using (person)", "only inner and left joins"),
    ("visits join (select * from persons) p using (person)", "by their names; a query is not read"),
    ("visits join read_csv('x') using (person)", "by their names; a query is not read"),
    ("(visits join persons using (person)) join letters using (person)", "by their names; a query is not read"),
    ("visits v(person, sex) join persons using (person)", "by their names; a query is not read"),
    ("visits join persons tablesample 10% using (person)", "by their names; a query is not read"),
    ("visits join persons using (person) where ward = 'ear'", "expected tables that are joined; a query is not read"),
    ("visits join persons using (person); drop table visits", "expected tables that are joined"),
    ("visits join persons using (person) union select 1", "expected tables that are joined"),
    ("visits join join", "expected tables that are joined"),
]


@pytest.mark.parametrize(("tables", "words"), REFUSED)
def test_what_mixes_persons_is_refused_before_a_row_is_read(tmp_path, tables, words):
    with pytest.raises(SchemaMismatch, match=words) as refusal:
        open_source(f"{tmp_path / 'none.duckdb'}#{tables}", unit=PERSON)
    assert "\n" not in str(refusal.value)


def test_rows_without_persons_are_not_joined(tmp_path):
    with pytest.raises(SchemaMismatch, match="where rows are protected there are none"):
        open_source(f"{tmp_path / 'none.duckdb'}#visits join persons using (person)")


def test_fewer_columns_than_the_unit_are_refused(tmp_path):
    with pytest.raises(SchemaMismatch, match=r"expected `using \(house, person\)`"):
        open_source(f"{tmp_path / 'none.duckdb'}#visits join persons using (house)", unit=("house", "person"))


def test_a_unit_of_several_columns_is_joined_by_all(shop):
    path = shop("CREATE TABLE a AS SELECT 1 AS h, 2 AS p, 'x' AS v; CREATE TABLE b AS SELECT 1 AS h, 3 AS p, 'y' AS w")
    assert not rows(f"{path}#a join b using (p, h)", ("v", "w"), ("h", "p"))
    assert rows(f"{path}#a left join b using (h, p)", ("v", "w"), ("h", "p")) == Counter({("x", None): 1})


def test_a_name_in_two_tables_is_ambiguous(shop):
    path = shop('CREATE TABLE a AS SELECT 1 AS person, 2 AS age; CREATE TABLE b AS SELECT 1 AS person, 3 AS "Age"')
    with pytest.raises(SchemaMismatch, match="both a and b have a column 'Age', and only the unit is joined by"):
        rows(f"{path}#a join b using (person)", ("age",))


def test_a_table_without_the_person_is_named(shop):
    path = shop("CREATE TABLE a AS SELECT 1 AS person; CREATE TABLE b AS SELECT 1 AS persons")
    with pytest.raises(SchemaMismatch, match=r"#b has no column 'person'.*did you mean 'persons'"):
        rows(f"{path}#a join b using (person)", ("person",))


@pytest.mark.parametrize(
    ("first", "other", "joined"),
    [
        ("'A' COLLATE NOCASE", "'a' COLLATE NOCASE", 0),
        ("'a' COLLATE NOCASE", "'a'", 1),
        ("'a'::ENUM('a', 'b')", "'a'", 1),
        ("1::SMALLINT", "1::BIGINT", 1),
        ("NULL::INTEGER", "NULL::INTEGER", 0),
        ("1::DECIMAL(9,2)", "1::DECIMAL(9,2)", 1),
    ],
)
def test_persons_are_equal_only_as_they_are_read(shop, first, other, joined):
    path = shop(f"CREATE TABLE a AS SELECT {first} AS person; CREATE TABLE b AS SELECT {other} AS person, 7 AS x")
    assert rows(f"{path}#a join b using (person)", ("x",)).total() == joined


@pytest.mark.parametrize(
    ("first", "other"), [("'01'", "1"), ("0.0::DOUBLE", "0.0::DOUBLE"), ("1::DECIMAL(9,2)", "1::DECIMAL(9,3)")]
)
def test_types_in_which_two_persons_may_be_equal_are_refused(shop, first, other):
    path = shop(f"CREATE TABLE a AS SELECT {first} AS person; CREATE TABLE b AS SELECT {other} AS person, 7 AS x")
    with pytest.raises(SchemaMismatch, match="two persons may be equal in them; make views"):
        rows(f"{path}#a join b using (person)", ("x",))


CAP = 2
WARDS = [(), ("ear",), ("ear", "eyes"), ("eyes", "eyes", "eyes")]
SEXES = [(), ("f",), ("f", "m"), ("m", "m")]


@pytest.mark.parametrize("join", ["join", "left join"])
def test_one_persons_rows_in_both_tables_change_as_many_counts_as_the_cap(shop, join):
    """Every pair of what a person may have in two tables, beside others who stay as they are."""
    worlds = list(itertools.product(WARDS, SEXES))
    path = shop(";".join(itertools.chain.from_iterable(_world(n, *world) for n, world in enumerate(worlds))))
    counts = [_counts(f"{path}#w{n}.visits {join} w{n}.persons using (person)") for n in range(len(worlds))]
    for first, other in itertools.combinations(counts, 2):
        assert max((first - other).total(), (other - first).total()) <= CAP
    without = counts[0]  # the person has no rows at all
    assert all((each - without).total() <= CAP and not without - each for each in counts)
    assert max((each - without).total() for each in counts) == CAP


def test_a_join_that_mixes_persons_would_change_more(shop):
    """The planted fault that is refused: where one person's row is in the joined rows of others, no cap bounds it."""
    worlds = [((), ()), (("skin",), ())]
    statements = [*itertools.chain.from_iterable(_world(n, *world) for n, world in enumerate(worlds))]
    mixed = (
        "CREATE VIEW w{0}.mixed AS SELECT a.person, b.ward, 'f' AS sex FROM w{0}.visits a JOIN w{0}.visits b ON true"
    )
    path = shop(";".join([*statements, *map(mixed.format, range(2))]))
    changes = []
    for key in range(8):
        without, each = (_counts(f"{path}#w{number}.mixed", f"'{key:02}'") for number in range(2))
        changes.append((each - without).total())
    assert max(changes) > CAP


def _world(number, wards, sexes):
    yield f"CREATE SCHEMA w{number}; CREATE TABLE w{number}.visits (person INTEGER, ward VARCHAR)"
    yield f"CREATE TABLE w{number}.persons (person INTEGER, sex VARCHAR)"
    yield f"INSERT INTO w{number}.visits VALUES (2, 'ear'), (2, 'eyes'), (2, 'ear'), (3, 'eyes')"
    yield f"INSERT INTO w{number}.persons VALUES (2, 'f'), (2, 'm')"
    yield from (f"INSERT INTO w{number}.visits VALUES (1, '{ward}')" for ward in wards)
    yield from (f"INSERT INTO w{number}.persons VALUES (1, '{sex}')" for sex in sexes)


def _counts(tables, key="'00'"):
    """Return the counts after the cap, under one key, so that others keep the rows that they keep."""
    source = open_source(tables, unit=PERSON).source
    query = bounded_rows(relation_of(source), PERSON, ("ward", "sex"), rows=CAP, key=key)
    kept = source.fetch(f"SELECT ward, sex FROM ({query})").to_pylist()
    return Counter((row["ward"], row["sex"]) for row in kept)
