"""Two tables in a specification: what is promised to whom, what is refused, and that a release keeps the promise."""

import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.data.linked_people import ABOVE, ATTRIBUTES, BELOW, MOST, household_rows, households, tables

import dpress
from dpress.core.basics import free_memory, rng
from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import NotSupported
from dpress.data.table import Table
from dpress.query.designs import mechanism_of
from dpress.release.curator import publish
from dpress.release.curator.memory_needed import bytes_needed
from dpress.release.source_rows import chosen_rows


def plain(rows="households", **changes):
    spec = {
        "data": {"rows": rows},
        "table": [{**ABOVE}, {**BELOW}],
        "attribute": ATTRIBUTES,
        "privacy": {"unit": "hhid", "epsilon": 1.0},
        "release": {"kind": "histogram", "attributes": ["region", "children"]},
    }
    return {**spec, **changes}


def test_the_promise_is_to_households_with_as_many_rows_as_count():
    for rows, most in (("households", 1), ("persons", MOST)):
        design = dpress.plan(plain(rows)).design
        assert design.claim.unit == "hhid"
        assert design.claim.rows_per_unit == most
    release = dpress.publish(plain("persons"), tables(*households()))
    assert release.claim.unit == Unit(column="hhid", rows=MOST)
    assert release.claim.proven is not None


@pytest.mark.parametrize(("rows", "unit", "words"), [
    ("households", "hhid", "Protected is each of households as a whole, by hhid"),
    ("persons", ["hhid", "age"], "Protected is each single one of persons, by hhid and age, which is less"),
])  # fmt: skip
def test_plan_answers_and_page_say_whom_the_promise_is_to(rows, unit, words, tmp_path):
    release = {"kind": "histogram", "attributes": ["region"]}
    above = ABOVE if rows == "households" else {**ABOVE, "derived": {}}
    spec = plain(rows, table=[above, BELOW], privacy={"unit": unit, "epsilon": 1.0}, release=release)
    assert words in dpress.plan(spec).design.whom
    made = dpress.publish(spec, tables(*households()))
    assert words in str(made.query("total").note)
    dpress.report(made, tmp_path / "page.html")
    assert words in (tmp_path / "page.html").read_text()


def test_persons_alone_may_be_protected_where_households_give_them_nothing():
    spec = plain("persons", table=[{**ABOVE, "derived": {}}, {**BELOW}], privacy={"unit": "pid", "epsilon": 1.0})
    assert dpress.plan(spec).design.claim.unit == "pid"


def test_counts_are_those_of_a_loop_over_households_at_a_large_epsilon():
    above, below = households(400)
    data, truth = tables(above, below), household_rows(above, below)
    large = {"unit": "hhid", "epsilon": 200.0}
    release = dpress.publish(plain(privacy=large), data, rng=rng.seeded(1))
    for children in range(MOST + 1):
        value = sum(row["region"] == "south" and row["children"] == children for row in truth)
        assert round(release.query(f"region = south and children = {children}").value) == value


def test_means_and_ratios_across_tables():
    above, below = households(400)
    truth = household_rows(above, below)
    release = {
        "kind": "statistics",
        "attributes": ["region", "earned", "size"],
        "parameters": {"by": ["region"], "mean": ["earned", "size"]},
    }
    large = {"unit": "hhid", "epsilon": 500.0}
    made = dpress.publish(plain(privacy=large, release=release), tables(above, below), rng=rng.seeded(1))
    south = [row for row in truth if row["region"] == "south"]
    mean = made.query("mean earned where region = south").value
    assert mean == pytest.approx(sum(row["earned"] for row in south) / len(south), rel=0.05)
    ratio = sum(row["earned"] for row in south) / sum(row["size"] for row in south)
    answer = made.query("ratio sum earned / sum size where region = south")
    assert answer.value == pytest.approx(ratio, rel=0.05)
    assert answer.interval[0] <= ratio <= answer.interval[1]


def test_a_design_counts_what_its_specification_does(tmp_path):
    data = tables(*households())
    design = dpress.plan(plain("persons", data={"rows": "persons", "where": "children > 0"})).design
    assert all("source" not in table for table in design.specification["table"])
    counts = [dpress.publish(each, data, rng=rng.seeded(3)).query("total").value for each in (design, design)]
    release = dpress.publish(design, data, rng=rng.seeded(3), out=tmp_path / "out")
    assert counts == [release.query("total").value] * 2
    assert dpress.load_release(tmp_path / "out").query("total").value == counts[0]


REFUSED = [
    ({"privacy": {"epsilon": 1.0}}, r"\$.privacy.unit: expected whom two tables protect, got rows"),
    ({"privacy": {"unit": "hhid", "rows_per_unit": 2, "epsilon": 1.0}}, r"rows_per_unit: expected 1, which `most` of"),
    ({"privacy": {"unit": "pid", "epsilon": 1.0}}, "a household's row is of all its persons"),
    ({"data": {"rows": "people"}}, r"\$.data.rows: expected households or persons, got 'people'"),
    ({"data": {}}, r"attributes: expected which attributes are of its rows"),
    ({"table": [{**ABOVE}]}, r"\$.table: expected two of different names"),
    ({"table": [{**ABOVE}, {**BELOW, "of": "homes"}]}, r"\$.table: expected `of` in the one below"),
    ({"table": [{**ABOVE}, {**BELOW, "key": ["a", "b"]}]}, r"key: expected as many columns"),
    (
        {"table": [{**ABOVE, "derived": {"size": "median age"}}, {**BELOW}]},
        'derived.size: expected "count", "sum COLUMN"',
    ),
    ({"table": [{**ABOVE, "derived": {"size": "count where age <"}}, {**BELOW}]}, r"derived.size: "),
    ({"table": [{**ABOVE, "most": 3}, {**BELOW}]}, "most: only of the table below"),
    *(
        ({"table": [{**ABOVE, "name": name}, {**BELOW, "of": name}]}, "name: expected at most 60 letters, digits and _")
        for name in ("records", "Records", "measurement", "MEASUREMENT", "con", "a b", "h" * 61)
    ),
    (
        {"table": [{**ABOVE, "name": "Persons"}, {**BELOW, "of": "Persons"}]},
        r"\$.table: expected two of different names",
    ),
    ({"table": [{**ABOVE, "key": ["a", "a"]}, {**BELOW, "key": ["a", "b"]}]}, r"key: expected different columns"),
    ({"table": [{**ABOVE}, {**BELOW, "attributes": ["rol"]}]}, r"\.attributes: there is no attribute 'rol'"),
    *(
        (
            {
                "data": {},
                "table": [{**ABOVE, "derived": {name: "count"}}, {**BELOW, "attributes": ["age"]}],
                "release": {"kind": "microdata"},
            },
            rf"derived.{name}: records of both tables have this column",
        )
        for name in ("persons", "age_1")
    ),
    (
        {"release": {"kind": "microdata"}, "constraint": [{"holds": "region = north", "persons": "first"}]},
        r"^\$.constraint\[#1\].persons: only beside records of two \[\[table\]\]",
    ),
    ({"data": {"rows": "persons", "source": "a.csv"}}, r"\$.data.source: each \[\[table\]\] names its rows"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED)
def test_what_does_not_fit_is_refused_in_a_line(changes, message):
    with pytest.raises(ValueError, match=message) as refusal:
        dpress.plan(plain(**changes))
    assert "\n" not in str(refusal.value)


def test_single_persons_are_promised_nothing_beside_what_others_get_of_them():
    with pytest.raises(ValueError, match=r"derived: a person changes what the others of a household get"):
        dpress.plan(plain("persons", privacy={"unit": "pid", "epsilon": 1.0}))


def test_columns_of_the_key_may_be_named_in_any_order():
    keyed = [{**ABOVE, "key": ["a", "b"]}, {**BELOW, "key": ["a", "b"]}]
    spec = plain("persons", table=keyed, privacy={"unit": ["b", "a"], "epsilon": 1.0})
    assert dpress.plan(spec).design.claim.rows_per_unit == MOST


def test_one_table_has_no_first_person():
    spec = {name: value for name, value in plain().items() if name not in ("table", "data")}
    spec |= {"release": {"kind": "microdata"}, "constraint": [{"holds": "role = head", "persons": "others"}]}
    with pytest.raises(ValueError, match=r"^\$.constraint\[#1\].persons: only beside records of two"):
        dpress.plan(spec)


def test_one_table_has_no_other_rows():
    with pytest.raises(ValueError, match=r"\$.data.rows: names one of two \[\[table\]\], and there are none"):
        dpress.load_spec({name: value for name, value in plain().items() if name != "table"})


def test_a_stopped_release_is_not_resumed_where_nobody_sees_that_rows_of_either_table_change(tmp_path, monkeypatch):
    above, below = households()
    files = tables(above, below)
    pq.write_table(files["households"], tmp_path / "households.parquet")
    ledger = dpress.Ledger.create(tmp_path / "ledger", limit=dpress.PureDP(epsilon=5), unit=Unit(column="hhid", rows=1))
    counts = []
    monkeypatch.setattr(publish, "_write", full_disk)
    for rows in (below, below[:20]):
        data = {"households": tmp_path / "households.parquet", "persons": tables(above, rows)["persons"]}
        with pytest.raises(OSError, match="the disk is full"):
            dpress.publish(plain(), data, ledger=ledger, out=tmp_path / "out")
        counts.append(ledger.summary().spent["epsilon"])
    assert counts == [1, 2]
    assert not list(tmp_path.glob(".out*"))


def full_disk(*_):
    raise OSError("the disk is full")


def test_the_file_of_two_that_changed_is_named(tmp_path):
    files = {name: tmp_path / f"{name}.parquet" for name in ("households", "persons")}
    for name, rows in tables(*households()).items():
        pq.write_table(rows, files[name])
    rows = chosen_rows(dpress.load_spec(plain()), files).rows
    table = Table(rows, ("region",), Unit(column="hhid", rows=1)).settled()
    pq.write_table(tables(*households(30))["persons"], files["persons"])
    with pytest.raises(OSError, match=rf"^{files['persons']} changed while it was read"):
        table.check_unchanged()


@pytest.mark.parametrize("rows", ["households", "persons"])
def test_rows_that_are_joined_count_in_the_memory_that_is_needed(rows, tmp_path, monkeypatch):
    data = tables(*households())
    files = {name: tmp_path / f"{name}.parquet" for name in data}
    for name, table in data.items():
        pq.write_table(table, files[name])
        pyarrow.csv.write_csv(table, files[name].with_suffix(".csv"))
    source = chosen_rows(dpress.load_spec(plain(rows)), files).rows.source
    joined = sum(table.num_rows for table in data.values())
    assert (source.row_count(), source.rows_held()) == (data[rows].num_rows, joined)
    of_text = {name: path.with_suffix(".csv") for name, path in files.items()}
    source_of_text = chosen_rows(dpress.load_spec(plain(rows)), of_text).rows.source
    assert joined <= source_of_text.rows_held() <= joined + 4  # and two lines of names, and what is behind the last
    design = dpress.plan(plain(rows)).design
    alone, both = (bytes_needed(design, mechanism_of(design), data[rows].num_rows, joined=each) for each in (0, joined))
    assert both - alone >= 160 * joined
    monkeypatch.setattr(free_memory, "bytes_there", lambda: (alone + both) // 2)
    with pytest.raises(NotSupported, match=r"\(nothing was read or charged\)"):
        dpress.publish(design, files)
