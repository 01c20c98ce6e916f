"""Sums and comparisons of numbers in bins: they hold in every record to the last digit; rows that break them count."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpress
from dpress.core.basics import rng
from dpress.query.made_records import write_records

pytestmark = pytest.mark.usefixtures("one_short_fit")

ATTRIBUTES = [
    {"name": "rooms", "kind": "numeric", "bounds": [0, 50], "bins": 10},
    {"name": "total", "kind": "numeric", "bounds": [0, 40.5], "bins": 9},
    {"name": "age", "kind": "integer", "bounds": [0, 89], "bins": 18},
    {"name": "worked", "kind": "integer", "bounds": [0, 79], "bins": 16},
    {"name": "left", "kind": "integer", "bounds": [0, 90]},
    {"name": "children", "kind": "integer", "bounds": [0, 4]},
]
CONSTRAINTS = [
    {"holds": "total = rooms + 2"},
    {"holds": "worked <= age - 16"},
    {"holds": "left = age - worked"},
    {"impossible": "rooms < 2.5 * children"},
]


def spec(constraints=CONSTRAINTS, attributes=ATTRIBUTES, method="graphical", epsilon=2.0, **parameters):
    release = {"kind": "microdata", "method": method, "parameters": parameters}
    return {"attribute": attributes, "privacy": {"epsilon": epsilon}, "release": release, "constraint": constraints}


def rows(count=800, seed=1):
    even = (rng.seeded(seed).words(4 * count) >> np.uint64(11)).reshape(4, count) * 2.0**-53
    rooms, age = np.round(10 + 28 * even[0], 2), (16 + 70 * even[1]).astype(int)
    worked, children = ((age - 15) * even[2]).astype(int), (rooms / 2.5 * even[3] % 5).astype(int)
    columns = {"rooms": rooms, "total": rooms + 2, "age": age, "worked": worked, "left": age - worked}
    return pa.table({**columns, "children": children})


def broken(records):
    """Return how many records break each constraint, to the last digit."""
    each = {name: records[name].to_numpy() for name in records.column_names}
    return [
        int((each["total"] != each["rooms"] + 2).sum()),
        int((each["worked"] > each["age"] - 16).sum()),
        int((each["left"] != each["age"] - each["worked"]).sum()),
        int((each["rooms"] < 2.5 * each["children"]).sum()),
    ]


@settings(max_examples=5, deadline=None, derandomize=True)
@given(
    seed=st.integers(1, 1000),
    how=st.sampled_from([("graphical", 0.05), ("graphical", 1.0), ("graphical", 30.0), ("dp_prototypes", 4.0)]),
)
def test_no_record_breaks_one(tmp_path_factory, seed, how):
    method, epsilon = how
    more = {"users": 300, "clusters": 2} if method == "dp_prototypes" else {}
    planned = dpress.plan(spec(method=method, epsilon=epsilon, **more))
    folder = tmp_path_factory.mktemp("out") / "release"
    dpress.publish(planned.design, rows(300, seed), out=folder, rng=rng.seeded(seed))
    records = pq.read_table(folder / "records.parquet")
    assert broken(records) == [0, 0, 0, 0]
    for attribute in ATTRIBUTES:
        numbers = records[attribute["name"]].to_numpy()
        assert ((attribute["bounds"][0] <= numbers) & (numbers <= attribute["bounds"][1])).all()
    assert planned.chosen.mechanism.measured == (0, 2, 3, 5)
    read = dpress.load_release(folder)
    assert read.query("total").value == records.num_rows  # cells of what is computed follow from its numbers


def test_without_them_records_break_all():
    plain = spec()
    plain.pop("constraint")
    assert min(broken(dpress.publish(plain, rows(), rng=rng.seeded(3)).detail.table)) > 0


def test_a_check_counts_the_rows_that_break_each_by_their_numbers():
    assert [figure.broken for figure in dpress.check(spec(), rows()).findings["constraints"].figures] == [0, 0, 0, 0]
    planted = rows().to_pylist()
    planted[0]["total"] += 0.01  # in the same cell
    planted[1]["worked"] = planted[1]["age"] - 15
    planted[2]["left"] += 1
    planted[3] |= {"rooms": 9.99, "total": 11.99, "children": 4}
    report = dpress.check(spec(), pa.Table.from_pylist(planted))
    assert [figure.broken for figure in report.findings["constraints"].figures] == [1, 1, 2, 1]
    assert not report.passed


def test_drawing_again_keeps_them(tmp_path):
    release = dpress.publish(spec(), rows(), rng=rng.seeded(3))
    again = pq.read_table(write_records(release, 500, tmp_path / "r.parquet", where="children = 1"))
    assert broken(again) == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ([{"holds": "total != rooms"}], r"\$.constraint: total, rooms|\$.constraint: rooms, total"),
        ([{"holds": "left = rooms + 1"}], r"left is an integer, and is computed from other numbers"),
        ([{"holds": "age <= rooms"}], r"integers with `bins` and numbers with decimals are compared"),
        (
            [{"holds": "total = rooms + 2"}, {"holds": "rooms = total - 3"}],
            "computed from each other|no record possible",
        ),
        ([{"holds": "rooms > total + 50"}], r"together the constraints leave no record possible"),
        (
            [{"holds": "total = rooms + 2"}, {"impossible": "total <= 4.5 and children = 4"}],
            "no other constraint than sums",
        ),
    ],
)
def test_what_numbers_within_cells_cannot_keep_is_refused_in_a_line(constraints, message):
    with pytest.raises(ValueError, match=message) as caught:
        dpress.plan(spec(constraints))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("again", ["total = worked + age", "age + worked = total", "total <= worked + age + 2"])
def test_what_an_equation_says_already_changes_no_record(again):
    attributes = [ATTRIBUTES[2], ATTRIBUTES[3], {**ATTRIBUTES[4], "name": "total", "bounds": [0, 168]}]
    stated = [{"holds": "total = age + worked"}]
    alone, both = (
        dpress.plan(spec(constraints, attributes)).chosen.mechanism.rules
        for constraints in (stated, [*stated, {"holds": again}])
    )
    assert alone == both
    for opposite in ("total = age + worked + 1", "total > age + worked", "total != worked + age"):
        with pytest.raises(ValueError, match=r"age, worked, total: beside what computes them, .* no record possible"):
            dpress.plan(spec([*stated, {"holds": opposite}], attributes))
    with pytest.raises(ValueError, match="total is computed from numbers that cancel out"):
        dpress.plan(spec([{"holds": "total = age - worked"}, {"holds": "worked = age - 1"}], attributes))


def test_a_comparison_of_an_attribute_with_a_cell_for_what_is_missing_names_it():
    for place in (2, 5):
        attributes = [dict(each) for each in ATTRIBUTES]
        attributes[place]["null"] = "none"
        name = attributes[place]["name"]
        with pytest.raises(ValueError, match=f"constraint: {name} has a cell without a number, 'none'; .* \"drop\""):
            dpress.plan(spec([{"holds": "children <= age"}], attributes))


def test_a_check_counts_rows_that_are_kept():
    """The second of two kept rows breaks the constraint; so do others, of which another attribute leaves each out."""
    attributes = [{**each, "outside": "drop", "null": "drop"} for each in (*ATTRIBUTES[2:4], ATTRIBUTES[5])]
    table = pa.table({"age": [40, 10, 10, 10, 90], "worked": [0, 9, 9, 9, 79], "children": [0, 0, 5, None, 0]})
    (figure,) = dpress.check(spec(CONSTRAINTS[1:2], attributes), table).findings["constraints"].figures
    assert (figure.rows, figure.broken) == (2, 1)
