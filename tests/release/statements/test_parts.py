"""Which releases answer statements, and with which attributes: as few, and as coarse, as the statements allow."""

import pytest
from tests.release.statements.visits import BASE, PURE, spec

from dpress import plan
from dpress.core.basics.errors import NotSupported
from dpress.query.sql.reader import statements
from dpress.release.statements.parts import parts_of
from dpress.release.statements.specifications import columns_of, specification


def parts(text, plain=PURE):
    base = spec(plain)
    return {
        part.name: (part, specification(part, base, text))
        for part in parts_of(statements(text, columns_of(base, text)), base.attribute)
    }


def test_all_counts_are_one_list_of_queries_each_once() -> None:
    text = (
        "select ward, count(*) from visits group by ward;"
        "select count(*) filter (where sex = 'f') * 1.0 / count(*) from visits where ward = 'eyes';"
        "select count(*) - count(*) filter (where age < 20) from visits"
    )
    ((part, made),) = parts(text).values()
    assert (part.answers, part.statements, made.release.kind) == ("counts", (0, 1, 2), "queries")
    queries = made.release.parameters["queries"]
    assert len(queries) == len(set(queries)) == 6
    assert set(queries) >= {"ward = eyes", "ward = ear", "ward = skin", "total"}
    assert plan(made).chosen.predicted_error > 0


def test_many_counts_are_the_tables_that_they_lie_in() -> None:
    ((_, made),) = parts("select visited, ward, count(*) from visits group by 1, 2").values()
    assert (made.release.kind, made.release.parameters) == ("marginals", {"tables": [["ward", "visited"]]})


def test_attributes_have_no_more_cells_than_conditions_tell_apart() -> None:
    text = (
        "select age // 10 * 10 as decade, count(*) from visits group by decade;"
        "select count(*) from visits where age >= 60 and visited < '2024-07-01'"
    )
    ((_, made),) = parts(text).values()
    assert dict(zip(made.schema.names, made.schema.shape, strict=True)) == {"age": 10, "visited": 4}
    by_quarter = made.schema.attribute("visited")
    assert by_quarter.labels[0] == "2024-Q1"


def test_statistics_are_by_the_groups_of_all_that_they_answer() -> None:
    text = (
        "select ward, sex, avg(cost), median(cost) from visits group by ward, sex;"
        "select ward, sum(cost), count(*) from visits group by ward;"
        "select sex, count(*) from visits group by sex"
    )
    ((part, made),) = parts(text).values()
    assert (part.answers, part.statements) == ("sums", (0, 1, 2))
    assert made.release.parameters == {"by": ["sex", "ward"], "mean": ["cost"], "median": ["cost"]}


def test_a_statement_is_not_answered_from_far_finer_groups() -> None:
    text = "select ward, sex, avg(cost) from visits group by ward, sex; select avg(cost) from visits"
    made = parts(text)
    assert {name: part.statements for name, (part, _) in made.items()} == {"sums-1": (0,), "sums-2": (1,)}


def test_rows_of_a_range_are_rows_of_their_own() -> None:
    where = "age between 18 and 64 and visited between '2024-02-01' and '2024-02-10'"
    text = f"select ward, avg(cost) from visits where {where} group by ward"
    ((_, made),) = parts(text).values()
    age, visited = made.schema.attribute("age"), made.schema.attribute("visited")
    assert (age.bounds, age.outside, age.size) == ((18, 64), "drop", 1)
    assert (str(visited.bounds[0]), str(visited.bounds[1]), visited.size) == ("2024-02-01", "2024-02-10", 1)
    assert made.schema.shape[:3] == (1, 3, 100)


def test_what_is_measured_in_its_own_groups_follows_from_a_table() -> None:
    ((part, made),) = parts("select avg(age) from visits where age > 50").values()
    assert (part.answers, made.release.kind, made.release.parameters) == ("cells", "marginals", {"tables": [["age"]]})


def test_values_that_nobody_lists_are_names_and_counts_alone() -> None:
    made = parts("select drug, count(*) from visits group by drug; select count(*) from visits", BASE)
    assert {name: spec.release.kind for name, (_, spec) in made.items()} == {
        "unlisted-drug": "names",
        "counts": "queries",
    }
    with pytest.raises(NotSupported, match="drug: of values that nobody lists there are counts by themselves"):
        parts("select drug, avg(cost) from visits group by drug", BASE)


def test_a_relation_is_asked_of_a_release_and_not_planned() -> None:
    with pytest.raises(NotSupported, match="correlation age cost follows from a release: publish counts"):
        parts("select ward, corr(age, cost) from visits group by ward", BASE)


def test_groups_that_where_excludes_are_not_asked_for() -> None:
    text = "select age // 10 * 10 as decade, count(*) from visits where age >= 80 group by 1"
    ((_, made),) = parts(text).values()
    assert len(made.release.parameters["queries"]) == 2
    assert plan(made).chosen.predicted_error > 0
