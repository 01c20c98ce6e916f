"""Two tables that belong together, joined while they are read: what loops over rows make of them."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from tests.data.linked_people import ABOVE, ATTRIBUTES, BELOW, MOST, counted, household_rows, households, table, tables

import dpress
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.release.curator.private_cap import private_cap
from dpress.release.source_rows import chosen_rows

WIDE = ("region", "size", "children", "earned", "eldest", "heir")
LONG = ("hhid", "role", "age", "region", "size", "children")


def spec(rows, *, above=None, below=None, unit="hhid"):
    return dpress.load_spec(
        {
            "data": {"rows": rows},
            "table": [{**ABOVE, **(above or {})}, {**BELOW, **(below or {})}],
            "attribute": ATTRIBUTES,
            "privacy": {"unit": unit, "epsilon": 1.0},
            "release": {"kind": "histogram", "attributes": ["region"]},
        }
    )


def read(rows, data, columns, **changes):
    source = chosen_rows(spec(rows, **changes), data).every.source
    batches = [batch for part in source.parts(columns) for batch in part.batches()]
    return pa.Table.from_batches(batches).to_pylist() if batches else []


def as_counts(rows):
    return Counter(tuple(row.values()) for row in rows)


@pytest.mark.parametrize("seed", range(1, 6))
def test_households_have_what_a_loop_over_their_persons_gives(seed):
    above, below = households(seed=seed)
    assert read("households", tables(above, below), WIDE) == household_rows(above, below)


@pytest.mark.parametrize("seed", range(1, 6))
def test_persons_have_their_household_and_no_more_than_most_count(seed):
    above, below = households(seed=seed)
    wide = {house["hhid"]: row for house, row in zip(above, household_rows(above, below), strict=True)}
    names = ("region", "size", "children")
    persons = [person for house in above for person in counted(below, house["hhid"])]
    truth = [
        {name: person[name] for name in LONG[:3]} | {name: wide[person["hhid"]][name] for name in names}
        for person in persons
    ]
    rows = read("persons", tables(above, below), LONG)
    assert as_counts(rows) == as_counts(truth)
    assert max(Counter(row["hhid"] for row in rows).values()) == MOST


@pytest.mark.parametrize("rows", ["households", "persons"])
def test_a_household_changes_its_rows_alone(rows):
    above, below = households(25, seed=7)
    columns, most = (WIDE, 1) if rows == "households" else (LONG, MOST)
    whole, largest = as_counts(read(rows, tables(above, below), columns)), 0
    for house in above:
        fewer = (
            [row for row in above if row is not house],
            [row for row in below if row["hhid"] != house["hhid"]],
        )
        left = as_counts(read(rows, tables(*fewer), columns))
        assert not left - whole
        largest = max(largest, (whole - left).total())
    assert largest == most


def test_a_person_changes_a_single_household():
    above, below = households(25, seed=8)
    whole = read("households", tables(above, below), WIDE)
    for person in below:
        others = read("households", tables(above, [row for row in below if row is not person]), WIDE)
        changed = [place for place, (old, new) in enumerate(zip(whole, others, strict=True)) if old != new]
        assert changed in ([], [person["hhid"] // 10])


def test_without_derived_columns_a_person_changes_that_persons_row_alone():
    above, below = households(12, seed=9)
    changes = {"above": {"derived": {}}, "unit": ["hhid", "age"]}
    whole = as_counts(read("persons", tables(above, below), LONG[:4], **changes))
    assert whole.total() == len(below)  # with a cap the one who is gone would let another in
    for person in below:
        left = as_counts(
            read("persons", tables(above, [row for row in below if row is not person]), LONG[:4], **changes)
        )
        assert (whole - left).total() == 1
        assert not left - whole


def test_rows_that_belong_to_nobody_and_keys_that_stand_twice_do_not_count():
    above, below = households(10)
    strays = [{**below[0], "hhid": 7}, {**below[0], "hhid": 8}]
    again = [{"hhid": 0, "region": "south"}]
    data = tables([*above, *again], [*strays, *below])
    assert read("households", data, WIDE) == household_rows(above, below)
    report = dpress.check(spec("households"), data)
    figures = report.findings["tables"].figures
    assert (figures.without_household, figures.repeated) == (2, 1)
    sizes = Counter(row["hhid"] for row in below)
    assert figures.above_most == sum(size > MOST for size in sizes.values())
    assert figures.left_out == sum(max(size - MOST, 0) for size in sizes.values())
    assert figures.without_persons == len(above) - len(sizes)
    assert len(report.faults) == 2
    assert not dpress.check(spec("households"), tables(above, below)).faults


NO_PERSONS = pa.table({"hhid": pa.array([], pa.int64()), "role": pa.array([], pa.string()), "age": [], "pay": []})


@pytest.mark.parametrize("of_files", [True, False])
def test_households_without_any_persons_are_joined_and_persons_without_any_households_are_not(tmp_path, of_files):
    above, below = households(10)
    data = {"households": table(above), "persons": NO_PERSONS}
    if of_files:
        for name, rows in data.items():
            pyarrow.csv.write_csv(rows, tmp_path / f"{name}.csv")
        data = {name: tmp_path / f"{name}.csv" for name in data}
    assert read("households", data, WIDE) == household_rows(above, [])
    assert read("persons", data, LONG) == []
    figures = dpress.check(spec("households"), data).findings["tables"].figures
    assert (figures.households, figures.without_persons, figures.persons) == (10, 10, 0)
    counts = dpress.publish(spec("households"), data, rng=rng.seeded(1))
    assert counts.query("total").interval[1] > 0
    with pytest.raises(SchemaMismatch, match="has no rows to join"):
        read("households", {**tables(above, below), "households": table(above)[:0]}, WIDE)


def test_the_check_leaves_nobody_out_where_single_persons_are_protected():
    above, below = households(10)
    persons = spec("persons", above={"derived": {}}, unit=["hhid", "age"])
    finding, capped = (
        dpress.check(each, tables(above, below)).findings["tables"] for each in (persons, spec("persons"))
    )
    assert (finding.figures.persons, finding.figures.left_out, finding.figures.above_most) == (len(below), 0, 0)
    assert "left out" not in str(finding.lines)
    assert "left out" in str(capped.lines)


def test_keys_of_several_columns_and_other_names():
    above, below = households(12)
    upper = [{"place": row["hhid"] // 40, "house": str(row["hhid"] % 40), "region": row["region"]} for row in above]
    lower = [{**row, "town": row["hhid"] // 40, "home": str(row["hhid"] % 40)} for row in below]
    names = ["town", "home", "role", "age", "pay"]
    data = {"households": table(upper), "persons": table(lower, names)}
    keys = {"above": {"key": ["place", "house"]}, "below": {"key": ["town", "home"]}, "unit": ["place", "house"]}
    assert read("households", data, WIDE, **keys) == household_rows(above, below)
    assert len(read("persons", data, ("place", "home", "age"), **keys)) == sum(
        len(counted(below, row["hhid"])) for row in above
    )


def test_files_of_text_and_of_other_places_give_the_same(tmp_path):
    above, below = households()
    for name, rows in tables(above, below).items():
        pa.csv.write_csv(rows, tmp_path / f"{name}.csv")
    places = ",".join(f"{name}={tmp_path / name}.csv" for name in ("households", "persons"))
    of_files, of_tables = (
        dpress.publish(spec("households"), data, rng=rng.seeded(1)) for data in (places, tables(above, below))
    )
    assert of_files.kept.tolist() == of_tables.kept.tolist()
    columns = [name for name in WIDE if name not in ("eldest", "heir")]  # which are texts in a file of text
    truth = [{name: row[name] for name in columns} for row in household_rows(above, below)]
    assert read("households", places, columns) == truth


def test_a_key_that_is_a_text_in_one_table_is_refused_where_the_other_has_a_number():
    data = tables(*households(5))
    texts = data["persons"].set_column(0, "hhid", data["persons"]["hhid"].cast(pa.string()))
    with pytest.raises(SchemaMismatch, match="'hhid' of the table above is integer, and 'hhid' of the one below text"):
        read("households", {**data, "persons": texts}, WIDE)


def test_a_column_of_both_tables_is_refused():
    data = tables(*households(5))
    both = data["households"].append_column("age", pa.array(np.arange(5)))
    with pytest.raises(SchemaMismatch, match="'age' is a column of both"):
        read("persons", {**data, "households": both}, LONG)


def test_no_other_engine_joins_and_other_rows_are_refused():
    with pytest.raises(NotSupported, match="two tables are joined here, by engine threads, got spark"):
        dpress.publish(spec("households"), tables(*households(5)), engine="spark")
    table_alone = tables(*households(5))["persons"]
    for others in ("people.csv", table_alone, {"households": table_alone}):
        with pytest.raises(SchemaMismatch, match="rows of two tables by their names, households=FILE,persons=FILE or"):
            dpress.publish(spec("households"), others)


def test_a_private_cap_is_not_asked_of_two_tables():
    with pytest.raises(ValueError, match="is what `most` says"):
        private_cap(spec("persons"), tables(*households(5)), epsilon=1)
