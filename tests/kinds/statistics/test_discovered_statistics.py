"""Statistics of groups whose names are discovered: planned, published in two steps, read back, refused in one line."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.kinds.statistics.statistics_spec import AGE, COST, SEX, spec

from dpress import check, evaluate, load_release, publish
from dpress.attributes.discovered import with_discovered
from dpress.core.basics import rng
from dpress.core.basics.errors import BudgetExceeded, NotSupported, SchemaMismatch
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.methods.table_sums import Found
from dpress.data import table_rows
from dpress.data.specification.spec import Spec
from dpress.kinds.statistics import plan_text
from dpress.query.release import Release
from dpress.release.curator import publish as publishing
from dpress.release.plan.plan import plan
from dpress.reporting.page import page

SECRET = "only <one> person"
COUNTS = {"tea": 2000, "coffee": 1500, 'a "quoted" <b>': 500, SECRET: 1}
ITEM = {"name": "item", "kind": "categorical", "values": "discover", "other": "rest"}
BUDGET = {"epsilon": 1.0, "delta": 1e-8}
PERSONS = {**BUDGET, "unit": "who", "rows_per_unit": 2}


def asked(attributes: Any = (ITEM, COST), privacy: Any = None, **changes: Any) -> Spec:
    none = dict.fromkeys(("variance", "median", "quantiles", "share"))
    return spec(attributes, privacy or BUDGET, **{**none, "by": ["item"], "mean": ["cost"], **changes})


def rows() -> pa.Table:
    draw = np.random.default_rng(2)  # noqa: TID251  # made-up rows
    items = [name for name, count in COUNTS.items() for _ in range(count)] + [None] * 60
    cost = np.where(np.array(items) == "tea", 300.0, 700.0) + draw.uniform(-50, 50, len(items))
    number = [{"tea": 12, "coffee": -3}.get(str(one), len(str(one))) for one in items]
    who = np.arange(len(items)) // 2
    return pa.table(
        {"item": items, "cost": cost, "number": number, "sex": draw.choice(["f", "m"], len(items)), "who": who}
    )


def published(**changes: Any) -> Release:
    return publish(asked(**changes), rows(), rng=rng.seeded(3))


def test_groups_are_the_names_that_occur_often_and_the_rest(tmp_path: Path) -> None:
    release = publish(asked(), rows(), rng=rng.seeded(3), ledger=tmp_path / "ledger.db", out=tmp_path / "r")
    assert release.charged == ApproxDP(**BUDGET)
    assert release.schema.tabular[0].labels_between(0, 9) == ['a "quoted" <b>', "coffee", "tea", "rest"]
    assert release.query("mean cost where item = tea").value == pytest.approx(300, abs=10)
    assert release.query("mean cost where item in (coffee, tea)").value == pytest.approx(1_650_000 / 3500, abs=10)
    assert release.query("item = rest").value == pytest.approx(61, abs=40)
    assert release.query("total").value == pytest.approx(4061, abs=60)
    again = load_release(tmp_path / "r")
    assert again.query("mean cost where item = tea") == release.query("mean cost where item = tea")
    with pytest.raises(NotSupported, match="attribute item: the design lists the names that a release found"):
        publish(again.design, rows())
    assert again.answers.discovered.startswith("item: 3 names occurred often enough to be released (a name that 82 ")
    with pytest.raises(BudgetExceeded):
        publish(asked(), rows(), rng=rng.seeded(3), ledger=tmp_path / "ledger.db")
    metrics = evaluate(again, rows())
    assert metrics["groups with rows"] == 4
    assert metrics["mean cost: within interval"] == 1


def test_a_name_that_was_not_released_is_nowhere(tmp_path: Path) -> None:
    release = publish(asked(), rows(), out=tmp_path / "r")
    written = b"".join(path.read_bytes() for path in (tmp_path / "r").iterdir())
    text = page(release)
    assert b"coffee" in written
    assert b"person" not in written.replace(b"persons", b"")
    assert "only &lt;one&gt;" not in text
    assert "<b>" not in text.split("quoted", 1)[1][:20]
    assert "Here δ is the most that the chance can be" in text
    with pytest.raises(ValueError, match="item has no value 'hidden'"):
        release.query("mean cost where item = hidden")


def test_discovered_names_cross_listed_attributes_and_people_count_once() -> None:
    crossed = published(attributes=(SEX, ITEM, COST), by=["sex", "item"])
    assert crossed.answers.size == 2 * 4
    assert crossed.query("item = tea and sex = f").value == pytest.approx(1000, abs=150)
    of_persons = published(privacy=PERSONS)
    assert of_persons.query("item = tea").value == pytest.approx(2000, abs=100)
    assert "different who have is" in of_persons.answers.discovered
    groups = plan(asked(privacy={**BUDGET, "unit": "who", "rows_per_unit": 60})).chosen.mechanism
    assert groups.claim.proven.delta == ApproxDP(**BUDGET).delta  # type: ignore[union-attr]


def test_integers_are_groups_by_their_texts_in_the_order_of_bytes() -> None:
    number = {"name": "number", "kind": "categorical", "values": "discover"}
    release = published(attributes=(number, COST), by=["number"])
    assert release.design.attributes[0].values == ("-3", "12", "14")  # type: ignore[union-attr]
    for text in ("number = 12", 'number = "12"', "number in (12)"):
        assert release.query(f"mean cost where {text}").value == pytest.approx(300, abs=10)
    data = pa.table({"number": [2**60 + 1] * 900, "cost": [300.0] * 900})
    large = publish(asked(attributes=(number, COST), by=["number"]), data, rng=rng.seeded(3))
    assert large.query(f"mean cost where number = {2**60 + 1}").value == pytest.approx(300, abs=20)


@pytest.mark.parametrize(
    ("column", "values", "asked_for"), [("number", (-3, 12, 14), "12"), ("old", (False, True), "true")]
)
def test_a_stored_release_whose_names_are_integers_or_truths_is_read(
    column: str, values: tuple[Any, ...], asked_for: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the first versions wrote them: names of the column's type, in its order."""
    for module in (table_rows, publishing):
        monkeypatch.setattr(
            module, "with_discovered", lambda attributes, _: with_discovered(attributes, Found(names={0: values}))
        )
    found = {"name": column, "kind": "categorical", "values": "discover"}
    data = rows().append_column("old", pc.equal(rows()["number"], 12))
    publish(asked(attributes=(found, COST), by=[column]), data, rng=rng.seeded(3), out=tmp_path / "r")
    again = load_release(tmp_path / "r")
    assert again.design.attributes[0].values == values  # type: ignore[union-attr]
    for text in (f"{column} = {asked_for}", f'{column} = "{asked_for}"', f"{column} in ({asked_for})"):
        assert again.query(f"mean cost where {text}").value == pytest.approx(300, abs=10)
    assert f">{asked_for}<" in page(again)


def test_a_database_gives_the_same_release(tmp_path: Path) -> None:
    held, place = rows(), tmp_path / "shop.duckdb"
    with duckdb.connect(str(place)) as connection:
        connection.execute("CREATE TABLE shop AS FROM held")
    for privacy in (BUDGET, {**PERSONS, "rows_per_unit": 9}):
        here, there = (publish(asked(privacy=privacy), data, rng=rng.seeded(4)) for data in (held, f"{place}#shop"))
        assert here.kept.tolist() == there.kept.tolist()
        assert here.design == there.design


@pytest.mark.parametrize(("of_each", "found"), [(1, 9), (9, 0)])
def test_weights_find_names_of_people_who_have_no_other(of_each: int, found: int) -> None:
    """Each of nine names is that of 200 people: 115 are enough where they have no other, 345 where they have all."""
    who = np.repeat(np.arange(1800 // of_each), of_each)
    items = np.arange(1800) % 9 if of_each > 1 else np.arange(1800) // 200
    data = pa.table({"item": [f"n{one}" for one in items], "cost": np.full(1800, 500.0), "who": who})
    own = asked(privacy={**PERSONS, "rows_per_unit": 9})
    release = publish(own, data, rng=rng.seeded(5))
    assert release.answers.discovered.startswith(f"item: {found} names")
    checked = check(own, data).findings["names"].figures
    assert checked.weighted
    assert checked.expected == pytest.approx(found, abs=0.6)


def test_without_a_name_that_occurs_often_all_rows_are_the_rest(tmp_path: Path) -> None:
    data = pa.table({"item": [f"n{one}" for one in range(200)], "cost": [500.0] * 200})
    release = publish(asked(), data, rng=rng.seeded(1), out=tmp_path / "r")
    again = load_release(tmp_path / "r")
    assert again.query("item = rest").value == release.query("total").value
    assert again.answers.discovered.startswith("item: 0 names")
    assert "0 names" in page(again)


def test_what_refuses_the_rows_does_so_before_the_charge(tmp_path: Path) -> None:
    data = pa.table({"item": ["tea"] * 500, "cost": [None] * 500})
    strict = asked(attributes=(ITEM, {**COST, "null": "reject"}))
    with pytest.raises(SchemaMismatch, match="attribute cost: a value is missing"):
        publish(strict, data, ledger=tmp_path / "ledger.db", out=tmp_path / "r")
    assert list(tmp_path.iterdir()) == []


def test_a_plan_says_from_which_count_on_and_how_wrong() -> None:
    planned = plan(asked())
    text = plan_text.text(planned)
    assert "For a name that counts 82 rows, which is released with a chance of at least 99 % (66: 50 %)" in str(text)
    many = str(plan_text.text(plan(asked(privacy={**PERSONS, "rows_per_unit": 9}))))
    assert "For a name that counts 541 who that have it" in many
    assert "(388: 50 %; 130 where they have no other name, as weights are 1 / sqrt(names))" in many
    own = plan_text.plain(planned, planned.chosen)
    assert own["claim"]["proven"] == {"epsilon": 1.0, "delta": 1e-8}
    assert set(own["standard_errors"]) == {"count", "sum cost", "mean cost"}


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"privacy": {"epsilon": 1.0}}, r"\$.privacy.delta: values = \"discover\" needs epsilon and delta"),
        ({"privacy": {**BUDGET, "delta": 1e-4}}, r"\$.privacy.delta: expected at most 1 / \(10 x users\) = 1e-05"),
        ({"privacy": {"epsilon": 1.0, "model": "local"}}, r"unknown parameter|devices need the list of the groups"),
        ({"by": ["sex"], "attributes": (SEX, ITEM, COST)}, r"\$.release.parameters.by: expected item in it"),
        (
            {"attributes": (ITEM, {**ITEM, "name": "two"}, COST), "by": ["item", "two"]},
            r"\$.attribute: values = \"discover\" for one attribute of kind = \"statistics\", got item, two",
        ),
        (
            {"mean": None, "attributes": (ITEM,)},
            r"\$.release.parameters: only counts of item are asked for; kind = \"names\" finds the names and counts",
        ),
        (
            {"by": ["item", "age"], "attributes": (ITEM, COST, {**AGE, "bounds": [0, 1 << 24]})},
            r"\$.release.parameters.by: 16,777,217 groups are more than 2\^24",
        ),
        ({"method": "group_statistics"}, r"\$.release.method: 'group_statistics' does not serve"),
        ({"share": ["item = tea"]}, r"\$.release.parameters.share\[#1\]: item has no value 'tea'"),
    ],
)
def test_a_plan_refuses_in_one_line(changes: dict[str, Any], line: str) -> None:
    with pytest.raises((NotSupported, ValueError), match=line) as refused:
        plan(asked(**changes))
    assert "\n" not in str(refused.value)
