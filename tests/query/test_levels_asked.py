"""Queries by the levels of a tree of codes, in the grammar and in SQL, against rows that are looked through."""

import itertools

import pyarrow as pa
import pytest

import dpress
from dpress.core.basics import rng
from dpress.query.query_tree import Condition, both

LEAVES = ["0100101", "0100102", "0100301", "2501701", "2502501", "2502502", "3610301"]
NAMES = {"01": "Alabama", "25": "Massachusetts", "36": "New York"} | {
    "01001": "Autauga", "01003": "Baldwin", "25017": "Middlesex", "25025": "Suffolk", "36103": "Suffolk",
}  # fmt: skip
LENGTHS = {"state": 2, "county": 5, "tract": 7}
PEOPLE = [
    {"place": leaf, "age": age, "count": (7 * place + 3 * age) % 11 + 1}
    for (place, leaf), age in itertools.product(enumerate([*LEAVES, "nowhere"]), range(4))
]


def release(folder, level, **more):
    """Publish the people by place and age, at a level, with next to no noise."""
    rows = ["state,state_name,county,county_name,tract"]
    rows += [f"{leaf[:2]},{NAMES[leaf[:2]]},{leaf[:5]},{NAMES[leaf[:5]]},{leaf}" for leaf in LEAVES]
    (folder / "tree.csv").write_text("\n".join(rows), encoding="utf-8")
    place = {"name": "place", "kind": "hierarchy", "levels": list(LENGTHS), "file": str(folder / "tree.csv")}
    spec = {
        "attribute": [place | {"other": "abroad"}, {"name": "age", "kind": "integer", "bounds": [0, 3]}],
        "privacy": {"epsilon": 900},
        "release": {"kind": "histogram", "level": level, **more},
    }
    people = [{name: person[name] for name in ("place", "age")} for person in PEOPLE for _ in range(person["count"])]
    return dpress.publish(spec, pa.Table.from_pylist(people), rng=rng.seeded(4))


@pytest.fixture(scope="module", params=["tract", "county"])
def by_level(request, tmp_path_factory):
    return release(tmp_path_factory.mktemp("tree"), request.param)


def counted(holds):
    return sum(person["count"] for person in PEOPLE if holds(person["place"], person["age"]))


CONDITIONS = {
    "county = 25017": lambda place, _: place[:5] == "25017",
    "county = 01001": lambda place, _: place[:5] == "01001",
    "county = 1001": lambda place, _: place[:5] == "01001",
    "county = Middlesex": lambda place, _: place[:5] == "25017",
    "state = 'New York'": lambda place, _: place[:2] == "36",
    "state in (25, 1)": lambda place, _: place[:2] in ("25", "01"),
    "state != 25": lambda place, _: place[:2] != "25",
    "not state in (25, 36) and age = 1": lambda place, age: place[:2] not in ("25", "36") and age == 1,
    "county = 25025 or (state = 01 and age in 1..2)": lambda place, age: (
        place[:5] == "25025" or (place[:2] == "01" and age in (1, 2))
    ),
    "county in (25017, 25025) and not county = 25017": lambda place, _: place[:5] == "25025",
    "state = abroad": lambda place, _: place == "nowhere",
    "county = abroad": lambda place, _: place == "nowhere",
    "place != abroad": lambda place, _: place != "nowhere",
    '"25" = state': lambda place, _: place[:2] == "25",
}


@pytest.mark.parametrize("text", CONDITIONS)
def test_a_condition_by_level_counts_those_who_live_below_it(by_level, text):
    assert round(by_level.query(text).value) == counted(CONDITIONS[text])


def test_the_cells_own_codes_are_named_by_the_attribute(by_level):
    level = "county" if by_level.schema.shape[0] == 6 else "tract"
    for code in sorted({leaf[: LENGTHS[level]] for leaf in LEAVES}):
        wanted = counted(lambda place, _, code=code: place.startswith(code))
        assert [round(by_level.query(f"{name} = {code}").value) for name in ("place", level)] == [wanted, wanted]


@pytest.mark.parametrize("level", ["state", "county"])
def test_groups_are_the_nodes_of_a_level(by_level, level):
    codes = sorted({leaf[: LENGTHS[level]] for leaf in LEAVES})
    results = by_level.results(f"count by {level} where age in 1..3")
    assert [result.group for result in results] == [((level, code),) for code in [*codes, "abroad"]]
    wanted = [counted(lambda place, age, code=code: place.startswith(code) and age > 0) for code in codes]
    assert [round(result.value) for result in results[:-1]] == wanted
    both = by_level.results(f"mean age by {level}, place")
    assert len(both) == len(results) * by_level.schema.shape[0]


def test_the_standard_error_is_that_of_the_cells_below(by_level):
    cells = by_level.schema.attribute("place").with_cells
    below = sum(label.startswith("25") for label in cells.labels)
    error = by_level.query("age = 1 and place = abroad").standard_error
    assert by_level.query("age = 1 and state = 25").standard_error == pytest.approx(error * below**0.5)


STATEMENTS = {
    "select count(*) from people where state = '25'": [(counted(lambda place, _: place[:2] == "25"),)],
    "select count(*) from people where State = 25 and age < 2": [
        (counted(lambda place, age: place[:2] == "25" and age < 2),)
    ],
    "select count(*) from people where not county in ('25025', '01001')": [
        (counted(lambda place, _: place[:5] not in ("25025", "01001")),)
    ],
    "select state, count(*) from people group by state": [
        *((code, counted(lambda place, _, code=code: place[:2] == code)) for code in ("01", "25", "36")),
        ("abroad", counted(lambda place, _: place == "nowhere")),
    ],
    "select case when county = 'Middlesex' then 'here' else 'else' end as w, count(*) from people group by 1": [
        ("here", counted(lambda place, _: place[:5] == "25017")),
        ("else", counted(lambda place, _: place[:5] != "25017")),
    ],
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements_name_levels_as_columns(by_level, statement):
    table = by_level.sql(statement).table
    keys = len(STATEMENTS[statement][0]) - 1
    rows = [tuple(row.values())[: keys + 1] for row in table.to_pylist()]
    assert [(*row[:-1], round(row[-1])) for row in rows] == STATEMENTS[statement]
    assert table.column_names[:keys] == (["state"] if "group by state" in statement else ["w"])[:keys]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("county = Suffolk", r"county = 'Suffolk' is the name of 2: 25025 \(Suffolk, Massachusetts\), 36103 \(Suffolk"),
        ("county = 99999", "county has no '99999'; it has 5 codes: 01001, 01003, 25017, 25025, 36103"),
        ("state in (25, Alabame)", "state has no 'Alabame'; it has 3 codes: 01, 25, 36; did you mean 'Alabama'?"),
        ("countie = 25017", "'countie = 25017'"),
        ("state < 25", "place has no order; use = or in"),
        ("mean state", "there is no attribute 'state'"),
        ("state = 25 or 36", "`or` stands between conditions; did you mean `state in"),
    ],
)
def test_what_names_no_region_is_refused_with_what_does(by_level, text, message):
    with pytest.raises(ValueError, match=message):
        by_level.query(text)


def test_a_level_finer_than_the_release_is_refused_with_those_that_there_are(tmp_path):
    made = release(tmp_path, "county")
    message = "place is released by county: its levels are state, county, got tract"
    with pytest.raises(ValueError, match=message):
        made.query("tract = 0100101")
    with pytest.raises(ValueError, match=message):
        made.results("count by tract")
    with pytest.raises(ValueError, match=message):
        made.sql("select tract, count(*) from people group by tract")


def test_a_list_of_queries_is_planned_by_levels(tmp_path):
    queries = ["state = 25", "county = 1001 and age = 2", "tract in (2502501, 2502502)"]
    made = release(tmp_path, "tract", kind="queries", parameters={"queries": queries})
    holds = (
        lambda place, _: place[:2] == "25",
        lambda place, age: place[:5] == "01001" and age == 2,
        lambda place, _: place in ("2502501", "2502502"),
    )
    wanted = [counted(each) for each in holds]
    assert [round(made.query(query).value) for query in queries] == wanted


def test_statistics_are_asked_by_levels(tmp_path):
    made = release(tmp_path, "county", kind="statistics", parameters={"by": ["place"], "mean": ["age"]})
    people = [person for person in PEOPLE if person["place"][:2] == "25"]
    mean = sum(person["age"] * person["count"] for person in people) / sum(person["count"] for person in people)
    assert made.query("mean age where state = 25").value == pytest.approx(mean, abs=0.1)
    assert [result.group[0][1] for result in made.results("count by state")] == ["01", "25", "36", "abroad"]


def test_conditions_of_a_level_read_as_they_were_written(tmp_path):
    made = release(tmp_path, "tract")
    assert made.query("county in (25017, 25025) and state = 'New York'").query == (
        "county in (25017, 25025) and state = 'New York'"
    )


def test_a_test_of_a_level_is_written_as_it_is_read():
    test = Condition(word="in", attribute="place", level="county", values=("25017", "Suffolk"))
    assert test.text == "county in (25017, Suffolk)"
    assert (
        both(test, Condition(word="=", attribute="age", values=("1",))).text == "age = 1 and county in (25017, Suffolk)"
    )
