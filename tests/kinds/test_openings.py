"""A page opens with what was found, and says no more than the noise allows."""

import itertools
import re
from html import unescape
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest
from scipy import stats
from tests.kinds.conftest import KINDS, SEX, _answered, joined, make
from tests.kinds.reading import undrawn
from tests.kinds.statistics.statistics_spec import COST, WARD
from tests.kinds.statistics.statistics_spec import spec as statistics_spec
from tests.kinds.statistics.statistics_spec import table as statistics_table

from dpress.core.basics import rng
from dpress.data.specification.spec import from_dict
from dpress.inference.interval import critical
from dpress.kinds.microdata.answers import ANSWERING as RECORDS
from dpress.mechanisms.microdata.expected_pairs import expected_error
from dpress.query.load import load_release
from dpress.query.release import Release
from dpress.release.curator.publish import publish
from dpress.release.plan.plan import plan
from dpress.reporting import counted as page_opening
from dpress.reporting import differences, findings
from dpress.reporting.counted import NAMED, counted, largest_groups
from dpress.reporting.facts import facts
from dpress.reporting.findings import CONFIDENCE, Groups, largest

FALSE_ALARM = 1e-6
STORED = Path(__file__).parents[1] / "formats" / "stored"
CITY = {"kind": "categorical", "name": "city", "title": "Home town", "values": [*"ABCDE"], "other": "drop"}
AGE = {"kind": "integer", "name": "age", "bounds": [0, 99], "title": "Age", "unit": "years"}


def opening(release: Release) -> str:
    (sentences,) = re.findall(r'<p class="opening">(.*?)</p>', undrawn(release), flags=re.DOTALL)
    return unescape(sentences)


def towns(*rows: int) -> pa.Table:
    return pa.table({"city": [name for name, size in zip(CITY["values"], rows, strict=True) for _ in range(size)]})


def of_towns(*rows: int) -> str:
    return opening(make("histogram", [CITY], data=towns(*rows)))


def test_every_page_of_counts_opens_with_how_many_there_are() -> None:
    assert opening(KINDS["histogram"]()).startswith("401 rows, give or take 9. ")
    assert opening(KINDS["local"]()).startswith("400 people reported. ")
    assert opening(KINDS["map"]()).startswith("908 rows, give or take 14. Of ")
    assert opening(KINDS["queries"]()).startswith("401 rows, give or take 9. sex: Female 66.6 % and Male 33.4 %")


def test_a_largest_group_is_named_where_it_is_significant() -> None:
    assert "The largest group of Home town is B: " in of_towns(400, 900, 400, 300, 10)


@pytest.mark.parametrize("rows", [(400, 403, 400, 300, 10), (30, 31, 30, 30, 30), (9, 11, 9, 8, 10)])
def test_a_near_tie_has_the_largest_estimates_and_names_no_largest_group(rows: tuple[int, ...]) -> None:
    amount = r"[A-E]: \d+(\.\d)? % \(\d+(\.\d)? to \d+(\.\d)?\)"
    told = f"The largest estimates of Home town are {amount}, {amount} and {amount}; the noise hides which group is "
    assert re.search(told, of_towns(*rows)), of_towns(*rows)


def test_of_two_groups_both_are_told_and_which_is_larger_only_where_that_is_significant() -> None:
    sexes = [pa.table({"sex": ["Female"] * first + ["Male"] * (1000 - first)}) for first in (501, 700)]
    tie, clear = (opening(make("histogram", [SEX], data=data)) for data in sexes)
    assert re.search(r"sex: \w+ 50\.\d % and \w+ \d\d\.\d %, give or take 0\.\d points; the noise hides which", tie)
    assert re.search(
        r"sex: Female \d\d\.\d % and Male \d\d\.\d %, give or take 0\.\d points; Female is the larger", clear
    )


def test_numbers_have_their_median_with_title_and_unit() -> None:
    data = pa.table({"age": [row % 60 for row in range(6000)]})
    assert re.search(r"The median of Age is (29|30) years", opening(make("ranges", [AGE], data=data)))


def test_where_intervals_are_approximate_only_the_number_is_told() -> None:
    about = facts(KINDS["local joint of bits"]())
    assert about.approximate == (len(counted(about, about.schema.tabular)) == 1)


def test_groups_of_statistics_are_named_where_their_intervals_lie_apart() -> None:
    shown = opening(
        publish(
            statistics_spec((WARD, COST), by=["ward"], variance=None, median=None, quantiles=None, share=None),
            statistics_table(),
            rng=rng.seeded(3),
        )
    )
    named = "Among the 2 of 3 groups whose size is known within a fifth, it is highest in hearts, "
    assert named in shown
    assert "and lowest in eyes, " in shown
    assert "none" not in shown


def test_a_group_of_nearly_nobody_hides_nothing_of_the_others() -> None:
    data = pa.table({"ward": ["eyes"] * 900 + ["hearts"] * 900 + ["none"] * 3, "cost": [50.0] * 900 + [150.0] * 903})
    alone = {"by": ["ward"], "variance": None, "median": None, "quantiles": None, "share": None}
    shown = opening(publish(statistics_spec((WARD, COST), **alone), data, rng=rng.seeded(3)))
    assert "groups whose size is known within a fifth, it is highest in hearts, " in shown


def test_groups_of_statistics_that_are_alike_are_not_named() -> None:
    data = pa.table({"ward": ["eyes", "hearts", "none"] * 300, "cost": [float(row // 3) for row in range(900)]})
    alone = {"variance": None, "median": None, "quantiles": None, "share": None}
    shown = opening(publish(statistics_spec((WARD, COST), **alone), data, rng=rng.seeded(3)))
    assert "The noise hides in which groups it is higher than in others." in shown


def test_a_joint_opens_with_the_pairs_that_are_significant() -> None:
    assert "Of 3 pairs 1 is significant, age × score most clearly." in opening(KINDS["local joint"]())
    assert opening(joined(dependent=False)).endswith("No pair can be told from independence.")


def held(often: float) -> str:
    """Return the opening of sets of which value 3 is held more often than the others, by so much."""
    people = 4000
    members = [["3"] if row < often * people else [str(row % 6)] for row in range(people)]
    apps = {"kind": "categorical", "name": "apps", "values": [str(value) for value in range(6)]}
    sets = {"kind": "sets", "parameters": {"cap": 1, "users": people}}
    plain = {"attribute": [apps], "privacy": {"model": "local", "epsilon": 3.0}, "release": sets}
    return opening(_answered(msgspec.json.encode(plain), pa.table({"apps": pa.array(members, pa.list_(pa.string()))})))


def test_a_value_of_sets_is_named_where_its_interval_lies_above_all_others() -> None:
    assert "The most frequent value is 3: " in held(0.5)
    tie = held(0.0)
    assert re.search(r"The largest estimates are \d: \d+ people \(\d+ to \d+\), \d: \d+ people ", tie), tie
    assert tie.endswith("; the noise hides which value is the most frequent.")


def test_names_open_with_how_many_were_found() -> None:
    shown = opening(load_release(STORED / "names" / "release"))
    assert shown == (
        "210 rows, give or take 122. 4 values of region are frequent enough to be released. "
        "The most frequent is South: 82.5 (75.5 to 89.6)."
    )


def test_records_open_with_how_many_there_are() -> None:
    release = load_release(STORED / "records_graphical_again" / "release")
    error = expected_error(RECORDS.of(release).maker.synthesizer, 241)
    assert opening(release) == (
        "241 records of 4 attributes. They stand for 241 rows, give or take 10. "
        "In them the median of age is 33; sex is most often Female, 51 %; region is most often South, 33 %. "
        f"In a table of any two attributes {100 * error:.2g} of 100 records are likely to be out of place."
    )


def test_records_say_where_noise_hides_what_attributes_have_to_do_with_each_other() -> None:
    few, many = (opening(make("microdata", [AGE, SEX], {"epsilon": epsilon})) for epsilon in (1, 20))
    hides = "which hides what attributes usually have to do with each other."
    assert few.endswith(hides)
    assert hides not in many


def test_records_of_which_nobody_knows_how_sure_they_are_say_so() -> None:
    shown = opening(load_release(STORED / "records_mdav" / "release"))
    assert shown == (
        "240 records of 3 attributes. In them the median of age is 33; sex is most often Female, 50 %; "
        "region is most often South, 42 %. How far tables of these records are from those of the rows is not known."
    )


def test_intervals_are_explained_only_where_there_are_any() -> None:
    drawn = {name: undrawn(load_release(STORED / name / "release")) for name in ("records_mdav", "names")}
    assert [name for name, page in drawn.items() if "95 % intervals of the noise." in page] == ["names"]


def test_records_stand_under_the_titles_of_their_columns() -> None:
    data = pa.table({"city": [*"ABCDE"] * 80, "age": [row % 60 for row in range(400)]})
    shown = undrawn(make("microdata", [CITY, AGE], data=data))
    assert '<th scope="col" class="label">Home town</th>' in shown
    assert '"Age (years)"' in shown
    same = undrawn(make("microdata", [CITY, AGE | {"title": "Home town", "unit": ""}], data=data))
    assert same.count('{"name":"Home town"') == 2


def crossed(north: float, south: float, people: int = 4000) -> pa.Table:
    """Return people of two areas, alike in number, by the share of women in each; the third area is nearly empty."""
    areas = ["North"] * people + ["South"] * people + ["Sea"] * 3
    sexes = [["Female", "Male"][row >= share * people] for share in (north, south) for row in range(people)]
    return pa.table({"area": areas, "sex": [*sexes, *["Female"] * 3]})


AREA = {"kind": "categorical", "name": "area", "title": "Area", "values": ["North", "South", "Sea"], "other": "drop"}
AREA |= {"labels": {"North": "the north"}}


@pytest.mark.parametrize("kind", ["histogram", "marginals"])
def test_the_largest_difference_between_groups_is_told_with_its_interval(kind: str) -> None:
    release = {"parameters": {"ways": 2}} if kind == "marginals" else {}
    shown = opening(make(kind, [AREA, SEX], {"epsilon": 1}, data=crossed(0.58, 0.49), **release))
    told = re.search(
        r"sex: the share of Female is larger where Area is the north, 5\d\.\d %, than where it is South, 4\d\.\d %: "
        r"by (\d+\.\d) points \((\d+\.\d) to (\d+\.\d)\)\.",
        shown,
    )
    assert told is not None, shown
    by, low, high = (float(told[place]) for place in (1, 2, 3))
    assert low <= 9 <= high
    assert low < by < high < 12


@pytest.mark.parametrize(("north", "south"), [(0.5, 0.5), (0.505, 0.5), (0.5, 0.502)])
def test_of_groups_that_are_nearly_alike_nothing_is_told(north: float, south: float) -> None:
    assert "larger where" not in opening(make("histogram", [AREA, SEX], {"epsilon": 0.2}, data=crossed(north, south)))


def test_means_of_groups_are_told_where_their_intervals_lie_apart() -> None:
    ages = [*range(60)] * 50
    data = pa.table({"age": [*ages, *(age + 30 for age in ages)], "area": ["North"] * 3000 + ["South"] * 3000})
    shown = opening(make("histogram", [AREA, AGE], {"epsilon": 1}, data=data))
    assert re.search(
        r"By Area, the mean of Age is highest in South, (59|60)(\.\d)? years \(.*, and lowest in the north", shown
    )
    alike = pa.table({"age": [*ages, *ages], "area": ["North"] * 3000 + ["South"] * 3000})
    assert "mean of Age" not in opening(make("histogram", [AREA, AGE], {"epsilon": 1}, data=alike))


def test_the_smallest_group_that_is_told_from_an_empty_one_is_named() -> None:
    assert "; the smallest that is told from an empty one is E: 1.5 % " in of_towns(400, 900, 400, 300, 30)
    assert "; the smallest that is told from an empty one is D: " in of_towns(400, 900, 400, 300, 0)
    for rows in ((400, 900, 400, 30, 31), (0, 900, 0, 0, 0), (900, 1, 2, 0, 1)):
        assert "smallest" not in of_towns(*rows)


def test_groups_of_statistics_of_which_none_is_extreme_are_told_apart() -> None:
    wards = [("eyes", 10), ("hearts", 90), ("none", 90)]
    rows = pa.table({"ward": [name for name, _ in wards] * 300, "cost": [float(cost) for _, cost in wards] * 300})
    only = {"variance": None, "median": None, "quantiles": None, "share": None}
    shown = opening(publish(statistics_spec((WARD, COST), **only), rows, rng=rng.seeded(3)))
    assert "lowest in eyes" in shown
    assert "highest" not in shown


def differences_of_equal_groups(monkeypatch: pytest.MonkeyPatch, runs: int) -> tuple[int, int]:
    """Return how many openings tell a difference or name an end where all is alike: by our rule, by a hasty one."""
    plain = {"attribute": [CITY | {"values": [*"ABC"]}, SEX], "privacy": {"epsilon": 0.5}}
    planned = plan(from_dict(plain | {"release": {"kind": "histogram", "method": "identity"}}))
    cities, sexes = [*"ABC"] * 200, [*["Female"] * 300, *["Male"] * 300]
    data, generator, told = pa.table({"city": cities, "sex": sexes}), rng.seeded(6), {0.0: 0, 0.75: 0}
    for _ in range(runs):
        about = facts(publish(planned, data, rng=generator))
        for haste in told:
            monkeypatch.setattr(
                differences, "critical", lambda confidence, tail, by=haste: (1 - by) * critical(confidence, tail)
            )
            named = " ".join(counted(about, about.schema.tabular))
            told[haste] += any(
                words in named for words in ("larger where", "largest group", "smallest", "is the larger")
            )
    return told[0.0], told[0.75]


@pytest.mark.slow
def test_equal_groups_are_told_apart_no_more_often_than_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every name, and every difference, is wrong where all are alike; a quarter of the critical value is found out."""
    runs = 240
    most = stats.binom.isf(FALSE_ALARM, runs, 1 - CONFIDENCE)
    ours, hasty = differences_of_equal_groups(monkeypatch, runs)
    assert ours <= most < hasty


def names_of_equal_groups(monkeypatch: pytest.MonkeyPatch, runs: int) -> tuple[int, int]:
    """Return how many openings of equal groups name a largest one: by our rule, and by one that is hasty."""
    plain = {"attribute": [CITY], "privacy": {"epsilon": 0.5}, "release": {"kind": "histogram", "method": "identity"}}
    planned, data, generator = plan(from_dict(plain)), towns(40, 40, 40, 40, 40), rng.seeded(5)

    def hasty(groups: Groups, confidence: float = CONFIDENCE) -> int | None:
        del confidence
        first, second, *_ = (-groups.values).argsort().tolist()
        return first if groups.exceeds(first, second, 0.3) else None

    named = {largest: 0, hasty: 0}
    for _ in range(runs):
        about = facts(publish(planned, data, rng=generator))
        for rule in named:
            monkeypatch.setattr(findings, "largest", rule)
            named[rule] += any(
                sentence.startswith("The largest group") for sentence in counted(about, about.schema.tabular)
            )
    return named[largest], named[hasty]


@pytest.mark.slow
def test_equal_groups_are_named_no_more_often_than_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every name is wrong where all are equal; a rule without Bonferroni, of a low confidence, is found out."""
    runs = 600
    most = stats.binom.isf(FALSE_ALARM, runs, 1 - CONFIDENCE)
    ours, hasty = names_of_equal_groups(monkeypatch, runs)
    assert ours <= most < hasty


TOWNS = [CITY | {"name": name, "title": f"Town of {name}", "values": [*"ABC"]} for name in ("birth", "work", "rest")]


def test_a_joint_opens_with_the_largest_groups_and_the_clearest_pair() -> None:
    columns = {
        "birth": [*"AAAABC"] * 300,
        "work": [*"AAAABC"] * 300,
        "rest": [*"ABC"] * 600,
    }
    text = opening(make("joint", TOWNS, data=pa.table(columns)))
    assert re.match(r"1,\d\d\d rows, give or take \d+\. The largest group of Town of birth is A: 6\d", text)
    assert "The largest group of Town of work is A: " in text
    assert "Town of rest is" not in text
    assert "smallest" not in text
    assert "Town of birth × Town of work most clearly." in text
    whole = undrawn(make("joint", TOWNS, data=pa.table(columns)))
    assert "the chance of any wrong group is 5 % at most" in whole


def groups_of_ties(monkeypatch: pytest.MonkeyPatch, runs: int) -> tuple[int, int]:
    """Return how many openings of joints name a group though all are equal: by our confidence, and by a low one."""
    plain = {"attribute": TOWNS, "privacy": {"epsilon": 0.5}, "release": {"kind": "joint"}}
    rows = itertools.product("ABC", repeat=3)
    data = pa.table(dict(zip(("birth", "work", "rest"), map(list, zip(*[*rows] * 8, strict=True)), strict=True)))
    planned, generator, named = plan(from_dict(plain)), rng.seeded(9), {NAMED: 0, 0.1: 0}
    for _ in range(runs):
        about = facts(publish(planned, data, rng=generator))
        for confidence in named:
            monkeypatch.setattr(page_opening, "NAMED", confidence)
            named[confidence] += bool(largest_groups(about, about.schema.tabular))
    return named[NAMED], named[0.1]


@pytest.mark.slow
def test_a_joint_names_equal_groups_no_more_often_than_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every name is wrong where all are equal; a low confidence is found out."""
    runs = 240
    most = stats.binom.isf(FALSE_ALARM, runs, 1 - CONFIDENCE)
    ours, hasty = groups_of_ties(monkeypatch, runs)
    assert ours <= most < hasty


@pytest.mark.parametrize(
    ("kind", "names"),
    [("histogram", True), ("queries", True), ("map", True), ("two-way sums", True), ("ranges", False)],
)
def test_a_page_says_how_sure_names_are_where_it_may_name_any(kind: str, names: bool) -> None:  # noqa: FBT001
    text = undrawn(KINDS[kind]())
    assert "parentheses are 95 % intervals of the noise" in text
    assert ("those of the largest estimates of all groups together." in text) == (
        "argest estimate" in opening(KINDS[kind]())
    )
    assert ("only where that is significant: the chance that anything of this kind is wrong" in text) == names


def test_records_name_no_group() -> None:
    data = pa.table({"city": [*"AB"] * 100, "sex": ["Female", "Male"] * 100})
    text = undrawn(make("microdata", [CITY, SEX], data=data, method="graphical"))
    assert "parentheses are 95 % intervals of the noise." in text
    assert "A group is called" not in text


def test_a_mean_of_which_noise_tells_nothing_is_not_stated() -> None:
    shown = opening(load_release(STORED / "statistics" / "release"))
    assert "The noise hides the mean of income: it may be anything from 0 to 100,000." in shown
    assert "The mean of income is 28,500 (27,100 to 29,800)" in opening(
        load_release(STORED / "statistics_bounds_from_outside" / "release")
    )


def test_what_noise_hides_of_groups_is_named() -> None:
    shown = opening(load_release(STORED / "statistics_persons" / "release"))
    assert shown == ("229 rows, give or take 24. The noise hides in which groups the count is higher than in others.")
