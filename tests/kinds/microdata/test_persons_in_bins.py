"""Comparisons of persons whose numbers are in bins: they hold in the numbers of the persons' file, of who is there."""

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.data.linked_people import ABOVE, ATTRIBUTES, BELOW, households, tables

import dpress
from dpress.core.basics import rng

pytestmark = pytest.mark.usefixtures("one_short_fit")

AGE = {"name": "age", "kind": "integer", "bounds": [0, 80], "bins": 9}
PAY = {"name": "pay", "kind": "numeric", "bounds": [0, 9], "bins": 3}
CONSTRAINTS = [
    {"holds": "role = head", "persons": "first"},
    {"impossible": "role = head", "persons": "others"},
    {"impossible": "region = south and age > age_1 - 14", "persons": "others"},
    {"holds": "pay <= pay_1 or role = head", "persons": "others"},
    {"holds": "persons >= 1"},
]


def spec(constraints=CONSTRAINTS, epsilon=2.0):
    return {
        "table": [{**ABOVE, "derived": {}}, {**BELOW, "attributes": ["role", "age", "pay"]}],
        "attribute": [*ATTRIBUTES[:2], AGE, PAY],
        "privacy": {"unit": "hhid", "epsilon": epsilon},
        "release": {"kind": "microdata"},
        "constraint": constraints,
    }


def written(release, folder):
    release.write(folder)
    above, below = (pq.read_table(folder / f"{name}.parquet").to_pylist() for name in ("households", "persons"))
    return {row["hhid"]: row["region"] for row in above}, below


def broken(regions, persons):
    """Return how many persons break the third constraint, and the fourth."""
    first, counts = {}, [0, 0]
    for person in persons:
        head = first.setdefault(person["hhid"], person)
        other = head is not person
        counts[0] += other and regions[person["hhid"]] == "south" and person["age"] > head["age"] - 14
        counts[1] += other and person["pay"] > head["pay"]
    return counts


@settings(max_examples=3, deadline=None, derandomize=True)
@given(seed=st.integers(1, 1000), epsilon=st.sampled_from([0.2, 20.0]))
def test_no_person_breaks_one(tmp_path_factory, seed, epsilon):
    folder = tmp_path_factory.mktemp("out")
    planned = dpress.plan(spec(epsilon=epsilon))
    release = dpress.publish(planned.design, tables(*households(150, seed=seed)), rng=rng.seeded(seed))
    regions, persons = written(release, folder / "release")
    assert broken(regions, persons) == [0, 0]
    assert all(0 <= person["age"] <= 80 and 0 <= person["pay"] <= 9 for person in persons)
    cells = {int(person["age"]) // 9 for person in persons}
    assert len(cells) > 2
    again = written(dpress.load_release(folder / "release"), folder / "again")
    assert again == (regions, persons)


def test_without_them_persons_break_both(tmp_path):
    release = dpress.publish(spec(CONSTRAINTS[:2]), tables(*households(150)), rng=rng.seeded(2))
    assert min(broken(*written(release, tmp_path / "out"))) > 5


def test_a_check_counts_households_whose_cells_leave_no_such_numbers():
    above, below = households(50)
    report = dpress.check(spec(), tables(above, below))
    assert report.findings["constraints"].figures[2].broken > 0
    alone = [row for row in below if row["role"] == "head"]
    report = dpress.check(spec(), tables(above, alone))
    assert report.findings["constraints"].figures[2].broken == 0


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        ({"holds": "age >= pay", "persons": "first"}, "integers with `bins` and numbers with decimals"),
        ({"impossible": "age > age_1 and pay > pay_1", "persons": "others"}, "twice; state each by itself"),
        ({"holds": "pay <= pay_1"}, "compares person 1 with that person; add persons = .others."),
        ({"impossible": "age = age_1", "persons": "others"}, "compared by =, <, <=, > or >="),
    ],
)
def test_what_numbers_in_bins_cannot_keep_is_refused_in_a_line(constraint, message):
    with pytest.raises(ValueError, match=message) as refusal:
        dpress.plan(spec([constraint]))
    assert "\n" not in str(refusal.value)


def test_a_check_counts_a_household_of_which_two_persons_break_a_constraint_once():
    pay = {"name": "pay", "kind": "integer", "bounds": [0, 80], "bins": 9}
    attributes = {"attribute": [*ATTRIBUTES[:2], AGE, pay]}
    above = [{"hhid": number, "region": "north"} for number in range(5)]
    below = [{"hhid": number, "role": "other", "age": 5, "pay": 70} for number in range(4) for _ in range(3)]
    report = dpress.check(spec([{"holds": "pay <= age"}]) | attributes, tables(above, below))
    (figure,) = report.findings["constraints"].figures
    assert (figure.rows, figure.broken) == (5, 4)
