"""Plans of regions: what is measured where, with which error, and what is refused."""

from pathlib import Path
from typing import Any

import pytest
from tests.kinds.regions.small_country import PLACE, people, specification, truth

import dpress
from dpress import catalog
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.data.specification.toml import as_toml
from dpress.kinds.regions.levels import level_names
from dpress.mechanisms.linear.region_tables import RegionTables
from dpress.query.boxes import products


def mechanism(**parameters: Any) -> RegionTables:
    made = dpress.plan(specification(**parameters)).chosen.mechanism
    assert isinstance(made, RegionTables)
    return made


def test_every_level_has_every_table_and_a_release_the_errors_of_its_plan() -> None:
    plan = dpress.plan(specification())
    made = mechanism()
    assert level_names(plan.choice.schema.tabular[0]) == ("total", "state", "county", "tract")
    assert made.strategy.tables == (((), (0,), (1,), (0, 1)),) * 4
    assert sum(made.strategy.shares) == 1
    release = dpress.publish(plan, people())
    for text in ("total", "county = 2C and sex = f"):
        (weights,) = products(release.schema, text)
        assert release.query(text).standard_error ** 2 == pytest.approx(made.queries.variance(weights), rel=1e-12)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"tables": [["sex"], ["sex"]]}, r"tables\[#2\]: the same attributes as another table"),
        ({"tables": [["sex", "sex"]]}, r"tables\[#1\]: 'sex' stands twice"),
        ({"tables": [["sx"]]}, r"tables\[#1\]: there is no attribute 'sx' beside the regions; .* did you mean 'sex'\?"),
        ({"tables": [{"attributes": ["sex"], "from": "town"}]}, r"tables\[#1\]\.from: there is no level 'town'"),
        ({"levels": ["state", "county"]}, "levels: the finest level, tract, must be measured"),
        ({"weights": {"tract": 0}}, "weights: the finest level, tract, must count"),
        ({"weights": {"town": 2}}, "weights: there is no level 'town'; the levels are total, state, county, tract"),
        ({"invariants": {"town": "rows"}}, "invariants: there is no level 'town'"),
        ({"invariants": {"state": {"1": 4}}}, "invariants.state: 1 of 2 regions have no total, the first of them 2"),
        (
            {"invariants": {"state": {"1": 4, "2": 5}, "county": {"1A": 1, "1B": 2, "2C": 5}}},
            "1 totals of state are not",
        ),
        ({"invariants": {"state": "rows", "county": {"1A": 1, "1B": 2, "2C": 5}}}, "either all levels are stated"),
        ({"goal": {"level": "town"}}, r"goal\.level: there is no level 'town'"),
        ({"goal": {"level": "tract", "table": ["sx"]}}, r"goal\.table: there is no attribute 'sx'"),
        ({"tables": [["sex"]], "goal": {"level": "tract", "table": ["age"]}}, "goal: no table of tract has age"),
        ({"impossible": ["sex = f"]}, "impossible: only `records` are without what is impossible"),
        ({"records": True, "tables": [["sex"]]}, "records: needs a table of all attributes"),
        ({"records": True, "impossible": ["sex = x"]}, r"impossible\[#1\]: sex has no value 'x'"),
        ({"records": True, "impossible": ["sex = f", "sex = m"]}, "impossible: nobody is left"),
    ],
)
def test_what_is_no_plan_of_regions_is_refused_in_one_line(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words) as refusal:
        dpress.plan(specification(**parameters))
    assert "\n" not in str(refusal.value)


def test_other_models_attributes_and_methods_are_refused() -> None:
    plain = specification()
    with pytest.raises(NotSupported, match='kind = "regions" needs one attribute of kind = "hierarchy", got none'):
        dpress.plan({**plain, "attribute": plain["attribute"][1:], "release": {"kind": "regions"}})
    with pytest.raises(NotSupported, match="has no region for 'elsewhere'"):
        dpress.plan({**plain, "attribute": [{**PLACE, "other": "elsewhere"}, *plain["attribute"][1:]]})
    with pytest.raises((NotSupported, SchemaMismatch), match=r"regions|devices"):
        dpress.plan({**plain, "privacy": {"model": "local", "epsilon": 1}})
    with pytest.raises(NotSupported, match="use 'spine_marginals'"):
        dpress.plan({**plain, "release": {**plain["release"], "method": "identity"}})


def test_public_totals_are_measured_nowhere_else_and_have_no_error() -> None:
    made = mechanism(invariants={"state": "rows"})
    assert [() in tables for tables in made.strategy.tables[:2]] == [False, False]
    assert made.claim.given == "the public totals of every state"
    assert made.claim.proven == mechanism().claim.proven
    errors = {
        (each["level"], *each["table"]): each["typical_error"] for each in plain_errors(invariants={"state": "rows"})
    }
    assert errors["total",] == errors["state",] == 0 < errors["county",]


def plain_errors(**parameters: Any) -> list[dict[str, Any]]:
    plan = dpress.plan(specification(**parameters))
    errors: list[dict[str, Any]] = catalog.room("regions").words.plain(plan, plan.chosen)["errors"]
    return errors


def test_the_smallest_budget_makes_a_table_of_a_level_as_good_as_wished() -> None:
    plain = specification(goal={"level": "county", "table": ["age"]})
    planned = dpress.plan_for_error(plain, 3)
    errors = catalog.room("regions").words.plain(planned, planned.chosen)["errors"]
    (county,) = [error for error in errors if (error["level"], error["table"]) == ("county", ["age"])]
    assert 2.9 < county["typical_error"] <= 3
    assert planned.chosen.predicted_error == pytest.approx(county["typical_error"] ** 2)
    same = dpress.plan(specification({"rho": planned.spec.privacy.rho}))
    assert same.chosen.mechanism.queries.measured.variances == planned.chosen.mechanism.queries.measured.variances  # type: ignore[attr-defined]


def test_a_level_that_repeats_the_next_one_is_not_measured() -> None:
    place = {**PLACE, "values": [code for code in PLACE["values"] if code.startswith("1")]}
    plain = specification()
    made = dpress.plan({**plain, "attribute": [place, *plain["attribute"][1:]]}).chosen.mechanism
    assert isinstance(made, RegionTables)
    assert [len(tables) for tables in made.strategy.tables] == [0, 4, 4, 4]


def test_stated_totals_hold_exactly(tmp_path: Path) -> None:
    (tmp_path / "totals.csv").write_text("state,total\n1,250\n2,350\n", encoding="utf-8")
    spec = tmp_path / "people.toml"
    spec.write_text(as_toml(specification(invariants={"state": "totals.csv"})), encoding="utf-8")
    release = dpress.publish(spec, people())
    assert release.query("state = 2").value == pytest.approx(350)
    assert release.query("state = 2").standard_error == 0
    assert release.query("county = 1A").value + release.query("county = 1B").value == pytest.approx(250)
    wrong = sum(truth(people(), tracts=code) != stated for code, stated in (("1", 250), ("2", 350)))
    assert dpress.evaluate(release, people())["state total: within_interval"] == 1 - wrong / 2 < 1


def test_exact_totals_hold_the_truth_to_the_dust_of_floats() -> None:
    release = dpress.publish(specification(invariants={"county": "rows"}), people())
    metrics = dpress.evaluate(release, people())
    assert [metrics[f"{level} total: within_interval"] for level in ("total", "state", "county")] == [1, 1, 1]


def test_a_check_names_a_region_whose_rows_miss_its_stated_total() -> None:
    one, two = (truth(people(), tracts=code) for code in "12")
    plain = specification(invariants={"state": {"1": one, "2": two}})
    held = dpress.check(plain, people())
    assert (held.passed, held.findings["public_totals"].lines) == (
        True,
        (["state: 2 of 2 regions have as many rows as their public total states"],),
    )
    missed = dpress.check(specification(invariants={"state": {"1": one, "2": two + 1}}), people())
    (fault,) = missed.faults
    assert fault.startswith("state: 1 of 2 regions have other rows than their public total states, ")
    assert fault.endswith(f"the first of them 2, {two:,} where {two + 1:,} are stated")
    assert not missed.passed
    for invariants in ({"state": "rows"}, {}):
        assert dpress.check(specification(invariants=invariants), people()).findings == {}


def test_stated_totals_say_how_many_rows_there_are_whatever_users_does() -> None:
    def drowned(**parameters: Any) -> list[str]:
        plan = dpress.plan(specification({"rho": 0.01}, **parameters))
        return [line for line in catalog.room("regions").words.text(plan).remarks[2:] if isinstance(line, str)]

    stated = {"state": {"1": 250, "2": 350}}
    assert drowned(invariants=stated) == drowned(invariants=stated, users=10**6) != drowned(users=10**6)
