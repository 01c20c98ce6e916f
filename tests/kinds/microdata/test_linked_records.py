"""Records of two tables: keys match, sizes fit, constraints hold, whatever the rows and the noise are."""

import re
from collections import Counter, defaultdict

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data.linked_people import ABOVE, ATTRIBUTES, BELOW, MOST, counted, households, table, tables

import dpress
from dpress.core.basics import rng
from dpress.core.basics.claim import Unit
from dpress.kinds.microdata.linked_records import linking
from dpress.release.source_rows import chosen_rows

pytestmark = pytest.mark.usefixtures("one_short_fit")

BOTH = [{**ABOVE, "derived": {}}, {**BELOW, "attributes": ["role", "age", "pay"]}]
CONSTRAINTS = [
    {"holds": "role = head", "persons": "first"},
    {"impossible": "role = head", "persons": "others"},
    {"impossible": "role = other and age > age_1 - 5", "persons": "others"},
    {"holds": "age >= 16 or pay = 0"},
    {"holds": "persons >= 1 or region = north"},
]


def plain(constraints=(), epsilon=2.0, **changes):
    spec = {
        "table": BOTH,
        "attribute": ATTRIBUTES[:4],
        "privacy": {"unit": "hhid", "epsilon": epsilon},
        "release": {"kind": "microdata"},
        **({"constraint": [*constraints]} if constraints else {}),
    }
    return {**spec, **changes}


def test_constraints_under_which_all_households_are_empty_are_refused():
    nobody = ({"holds": "role = head", "persons": "first"}, {"holds": "role = other", "persons": "first"})
    for constraints in (nobody, ({"holds": "persons = 0"},)):
        with pytest.raises(ValueError, match=r"constraint: together the constraints leave no rows of persons possible"):
            dpress.plan(dpress.load_spec(plain(constraints)))
    dpress.plan(dpress.load_spec(plain(nobody[:1])))


def written(release, folder):
    release.write(folder)
    return [pq.read_table(folder / f"{name}.parquet").to_pylist() for name in ("households", "persons")]


def by_household(persons):
    found = defaultdict(list)
    for person in persons:
        found[person["hhid"]].append(person)
    return found


def wide(data, columns, spec=None):
    source = chosen_rows(dpress.load_spec(spec or plain()), data).every.source
    return [row for part in source.parts(columns) for batch in part.batches() for row in batch.to_pylist()]


def test_a_household_is_a_row_with_a_slot_for_everybody():
    above, below = households(60)
    rows = wide(tables(above, below), dpress.load_spec(plain()).schema.columns)
    for house, row in zip(above, rows, strict=True):
        persons = counted(below, house["hhid"])
        assert row["persons"] == len(persons)
        for number in range(1, MOST + 1):
            person = persons[number - 1] if number <= len(persons) else {"role": None, "age": -1, "pay": -1}
            pay = min(person["pay"], 9)
            assert (row[f"role_{number}"], row[f"age_{number}"], row[f"pay_{number}"]) == (
                person["role"], person["age"], pay
            )  # fmt: skip


def test_a_household_changes_one_row_and_a_person_that_of_one_household():
    above, below = households(12, seed=3)
    columns = dpress.load_spec(plain()).schema.columns
    whole = wide(tables(above, below), columns)
    for place, house in enumerate(above):
        others = [row for row in below if row["hhid"] != house["hhid"]]
        left = wide(tables([row for row in above if row is not house], others), columns)
        assert left == whole[:place] + whole[place + 1 :]
    for person in below:
        left = wide(tables(above, [row for row in below if row is not person]), columns)
        assert sum(old != new for old, new in zip(whole, left, strict=True)) <= 1


@settings(max_examples=6, deadline=None, derandomize=True)
@given(seed=st.integers(1, 1000), epsilon=st.sampled_from([0.1, 1.0, 20.0]), number=st.integers(1, 300))
def test_keys_match_sizes_fit_and_constraints_hold(tmp_path_factory, seed, epsilon, number):
    above, below = households(number, seed=seed)
    release = dpress.publish(plain(CONSTRAINTS, epsilon), tables(above, below or [{**NOBODY}]), rng=rng.seeded(seed))
    made_above, made_below = written(release, tmp_path_factory.mktemp("out") / "release")
    keys = [row["hhid"] for row in made_above]
    assert len({*keys}) == len(keys) == release.detail.table.num_rows
    persons = by_household(made_below)
    assert {*persons} <= {*keys}
    sizes = release.detail.table["persons"].to_pylist()
    assert [len(persons[key]) for key in keys] == sizes
    assert max(sizes, default=0) <= MOST
    regions = {row["hhid"]: row["region"] for row in made_above}
    for key in keys:
        assert persons[key] or regions[key] == "north"
        for place, person in enumerate(persons[key]):
            assert (person["role"] == "head") == (place == 0)
            assert place == 0 or person["age"] <= persons[key][0]["age"] - 5
            assert person["age"] >= 16 or person["pay"] == 0
            assert 0 <= person["age"] <= 80


NOBODY = {"hhid": 0, "role": "head", "age": 30, "pay": 1}


def test_records_at_a_large_epsilon_have_the_rows_sizes_and_roles(tmp_path):
    above, below = households(2000)
    release = dpress.publish(plain(epsilon=400.0), tables(above, below), rng=rng.seeded(1))
    made_above, made_below = written(release, tmp_path / "out")
    assert release.claim.unit == Unit(column="hhid", rows=1)
    truth = Counter(len(counted(below, row["hhid"])) for row in above)
    persons = by_household(made_below)
    made = Counter(len(persons[row["hhid"]]) for row in made_above)
    assert sum(abs(made[size] - truth[size]) for size in range(MOST + 1)) < 0.05 * len(above)
    heads = sum(person["role"] == "head" for row in above for person in counted(below, row["hhid"]))
    assert abs(sum(person["role"] == "head" for person in made_below) - heads) < 0.1 * heads


def test_records_of_households_without_any_persons_have_none(tmp_path):
    above, _ = households(30)
    nobody = {"households": table(above), "persons": table([NOBODY])[:0]}
    release = dpress.publish(plain(CONSTRAINTS[:2], epsilon=400.0), nobody, out=tmp_path / "out", rng=rng.seeded(1))
    assert pq.read_table(tmp_path / "out" / "households.parquet").num_rows == 30
    persons = pq.read_table(tmp_path / "out" / "persons.parquet")
    assert (persons.num_rows, persons.column_names) == (0, ["hhid", "role", "age", "pay"])
    assert release.query("persons = 0").value == 30


def test_a_release_is_read_back_and_asked(tmp_path):
    release = dpress.publish(plain(CONSTRAINTS), tables(*households(200)), rng=rng.seeded(2))
    files = written(release, tmp_path / "out")
    read = dpress.load_release(tmp_path / "out")
    assert read.files[:3] == ("records.parquet", "households.parquet", "persons.parquet")
    assert (
        read.query("role_2 = other and region = south").value
        == release.query("role_2 = other and region = south").value
    )
    assert written(read, tmp_path / "again") == files
    assert read.manifest()["linked_persons"] == len(files[1])


def test_queries_of_a_slot_are_of_persons_who_are_there():
    """An integer slot says with the number below its bounds that nobody is in it, which is no number of anybody's."""
    release = dpress.publish(plain(), tables(*households(200, seed=5)), rng=rng.seeded(7))
    records = release.answers.made.table
    first, third = (records[f"age_{number}"].to_numpy() for number in (1, 3))
    there = third >= 0
    assert 0 < there.sum() < there.size
    assert release["mean age_3"].value == pytest.approx(third[there].mean())
    assert release["age_3 < 30"].value == (there & (third < 30)).sum()
    assert release["not age_3 < 30"].value == (third >= 30).sum()
    assert release["age_3 < 30 or age_1 < 30"].value == ((there & (third < 30)) | ((first >= 0) & (first < 30))).sum()
    assert release["share age_3 < 30 where age_3 < 60"].value == pytest.approx(
        (there & (third < 30)).sum() / (there & (third < 60)).sum()
    )
    assert release["share age_3 < 30"].value == pytest.approx((there & (third < 30)).sum() / there.sum())
    of_all = (there & (third < 30)) | ((first >= 0) & (first < 30))
    assert release["share age_3 < 30 or age_1 < 30"].value == pytest.approx((of_all & there).sum() / there.sum())
    assert "Of slots only those count that somebody is in." in str(release["share age_3 < 30"].note)
    north = records["region"].to_numpy(zero_copy_only=False) == "north"
    assert release["share region = north where age_3 < 60"].value == pytest.approx(
        (north & there & (third < 60)).sum() / (there & (third < 60)).sum()
    )
    expected = np.corrcoef(first[there], third[there])[0, 1]
    assert release["correlation age_1 age_3"].value == pytest.approx(expected)
    assert "Of slots only those count that somebody is in." in str(release["mean age_3"].note)
    drawn = next(release.answers.record_source("age_3 < 30").batches(50, rng=rng.seeded(1)))
    assert min(drawn["age_3"].to_pylist()) >= 0
    assert release["total"].value == records.num_rows


def test_values_within_cells_are_the_same_whenever_they_are_written(tmp_path):
    age = {"name": "age", "kind": "integer", "bounds": [0, 80], "bins": 4}
    spec = plain(attribute=[ATTRIBUTES[0], age], table=[BOTH[0], {**BOTH[1], "order": [], "attributes": ["age"]}])
    release = dpress.publish(spec, tables(*households(60)), rng=rng.seeded(2))
    first = written(release, tmp_path / "out")
    assert (
        written(release, tmp_path / "again") == written(dpress.load_release(tmp_path / "out"), tmp_path / "b") == first
    )
    assert len({person["age"] for person in first[1]}) > 4


def test_the_page_says_what_the_records_are(tmp_path):
    release = dpress.publish(plain(), tables(*households(200)), rng=rng.seeded(2))
    dpress.report(release, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    persons = release.manifest()["linked_persons"]
    assert (
        f"{release.detail.table.num_rows:,} rows in households.parquet and {persons:,} rows in persons.parquet" in page
    )
    pairs = [title for title in re.findall(r"<h3[^>]*>([^<]*)</h3>", page) if " and " in title]
    assert pairs
    assert not [title for title in pairs if "person 2" in title or "person 3" in title]


def test_all_attributes_are_those_of_both_tables():
    every = {"release": {"kind": "microdata", "attributes": "all"}}
    stated, those = (dpress.plan(plain(CONSTRAINTS, **changes)).design for changes in ({}, every))
    assert linking(those) == linking(stated)
    assert len(linking(those).slots) == 3 * MOST
    (read,) = chosen_rows(dpress.load_spec(plain(**every)), tables(*households(5))).every.source.parts(["age_1"])
    assert sum(batch.num_rows for batch in read.batches()) == 5


def test_a_design_makes_records_of_both():
    spec = dpress.load_spec(plain(CONSTRAINTS))
    design = dpress.plan(spec).design
    data = tables(*households(100))
    tables_made = [dpress.publish(each, data, rng=rng.seeded(5)).detail.table for each in (spec, design)]
    assert tables_made[0].equals(tables_made[1])


def test_the_check_counts_households_that_break_a_constraint_of_persons():
    above, below = households(50)
    report = dpress.check(plain(CONSTRAINTS), tables(above, below))
    broken = [figure.broken for figure in report.findings["constraints"].figures]
    houses = [counted(below, row["hhid"]) for row in above]
    assert broken[0] == sum(bool(house) and house[0]["role"] != "head" for house in houses)
    assert broken[2] == sum(
        any(person["role"] == "other" and person["age"] > house[0]["age"] - 5 for person in house[1:])
        for house in houses
    )
    assert broken[3] == sum(any(person["age"] < 16 and person["pay"] > 0 for person in house) for house in houses)
    assert all(figure.broken <= figure.rows == 50 for figure in report.findings["constraints"].figures)


def test_the_check_counts_values_of_persons_also_those_for_which_publishing_refuses_the_table():
    above, below = households(50)
    bad = [{**row, "age": None} if place % 9 == 0 else row for place, row in enumerate(below)]
    report = dpress.check(plain(CONSTRAINTS), tables(above, bad))
    filled = [{**row, "age": -1 if row["age"] is None else row["age"]} for row in bad]
    who = [person for house in above for person in counted(filled, house["hhid"])]
    checked = {attribute.name: attribute for attribute in report.attributes}
    assert [*checked] == ["region", "persons", "role", "age", "pay"]
    assert (checked["age"].rows, checked["age"].missing) == (len(who), sum(person["age"] < 0 for person in who))
    assert checked["pay"].high == sum(person["pay"] > 9 for person in who) > 0
    assert report.refused == ("age",)
    assert "not counted, as the table would be refused" in str(report.findings["constraints"].lines)
    with pytest.raises(dpress.SchemaMismatch, match=r"attribute age: .* `dpress check` counts them first"):
        dpress.publish(plain(), tables(above, bad))
    assert dpress.check(plain(), tables(above, below)).refused == ()
    left = dpress.check(plain(attribute=[{**each, "null": "drop"} for each in ATTRIBUTES[:4]]), tables(above, bad))
    finding, missing = left.findings["tables"], sum(row["age"] is None for row in bad)
    assert (left.refused, finding.figures.dropped) == ((), missing)
    assert f'{missing:,}  persons left out for a value, as "drop" says' in str(finding.lines)


def state_of(hhid):
    return ["GA", "TX"][hhid // 10 % 2]


def test_a_part_of_the_key_is_an_attribute_under_another_name(tmp_path):
    above, below = households(60)
    data = tables(above, below)
    rows = {
        name: table.append_column("state", [[state_of(hhid) for hhid in table["hhid"].to_pylist()]])
        for name, table in data.items()
    }
    state = {"name": "home", "column": "state", "kind": "categorical", "values": ["GA", "TX"]}
    key = {"key": ["state", "hhid"]}
    spec = plain(
        table=[{**BOTH[0], **key}, {**BOTH[1], **key}],
        attribute=[*ATTRIBUTES[:4], state],
        privacy={"unit": ["state", "hhid"], "epsilon": 2.0},
    )
    made_above, made_below = written(dpress.publish(spec, rows, rng=rng.seeded(1)), tmp_path / "out")
    keys = [(row["state"], row["hhid"]) for row in made_above]
    assert len({*keys}) == len(keys)
    assert {(row["state"], row["hhid"]) for row in made_below} <= {*keys}
    assert {row["home"] for row in made_above} <= {"GA", "TX"}
    spec["attribute"][-1] = {**state, "name": "state"}
    for of_persons in (["role"], ["role", "state"]):
        spec["table"][1] = {**BOTH[1], **key, "attributes": of_persons}
        with pytest.raises(ValueError, match=r"^\$.attribute\[state\].name: a column of the key, .*, with column ="):
            dpress.plan(spec)


REFUSED = [
    (plain([{"holds": "region = north", "persons": "first"}]), "is about no attribute of persons"),
    (plain([{"holds": "age <= 80"}]), "says nothing"),
    (plain(table=[BOTH[0], {**BOTH[1], "attributes": []}]), "attributes: expected which attributes are of its rows"),
    (plain(release={"kind": "histogram"}), "expected whose rows are counted"),
    (plain(privacy={"unit": "pid", "epsilon": 1.0}), "a household's row is of all its persons"),
]


@pytest.mark.parametrize(("spec", "message"), REFUSED)
def test_what_does_not_fit_is_refused_in_a_line(spec, message):
    with pytest.raises(ValueError, match=message) as refusal:
        dpress.plan(spec)
    assert "\n" not in str(refusal.value)
