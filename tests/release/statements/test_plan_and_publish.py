"""Statements are planned within one budget, published as planned, and read back as the tables that they asked for."""

import math
import shutil
from fractions import Fraction

import pyarrow as pa
import pytest
from tests.release.statements.visits import BASE, PURE, spec, visits

from dpress import ROW, BudgetExceeded, Ledger, PureDP, publish
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.query.sql.statements_folder import load_statements
from dpress.release.statements.plan_statements import plan_statements
from dpress.release.statements.publish_statements import publish_statements
from dpress.release.statements.statements_text import statements_text

TEXT = """
select ward, count(*) from visits group by ward;
select ward, sex, avg(cost), count(*) from visits where age >= 18 group by ward, sex;
select age // 10 * 10 as decade, count(*) filter (where sex = 'f') * 1.0 / count(*) as women from visits group by 1
"""


@pytest.fixture(scope="module")
def planned():
    return plan_statements(PURE, TEXT)


def test_parts_share_the_budget(planned) -> None:
    shares = [part.share for part in planned.parts]
    assert len(shares) == 2
    assert Fraction(95, 100) < sum(shares) <= 1
    spent = [Fraction(repr(part.planned.spec.privacy.epsilon)) for part in planned.parts]
    assert sum(spent) <= 1


def test_the_predicted_errors_of_counts_are_those_of_the_release(planned, tmp_path) -> None:
    made = publish_statements(planned, visits(), out=tmp_path / "out")
    for number, errors in enumerate(planned.errors[:2], 1):
        table = made.answer(number).table
        count = next(error for error in errors if error.name == "count")
        exact = math.sqrt(sum(error**2 for error in table["count_error"].to_pylist()) / table.num_rows)
        assert count.error == pytest.approx(exact)
        assert count.twice == pytest.approx(exact / 2, rel=0.05)


def test_counts_of_all_parts_err_alike_and_by_their_weights() -> None:
    two = "select ward, avg(cost), count(*) from visits where sex = 'f' group by ward; select count(*) from visits"
    errors = {weights: _counts(plan_statements(PURE, two, weights=weights)) for weights in ((), (4, 1))}
    assert errors[()][0] == pytest.approx(errors[()][1], rel=0.3)
    assert errors[4, 1][0] < 0.5 * errors[4, 1][1]


def _counts(planned):
    return [error.error for errors in planned.errors for error in errors if error.name == "count"]


def test_answers_are_the_tables_asked_for_near_the_truth(planned, tmp_path) -> None:
    made = publish_statements(planned, visits(), out=tmp_path / "out")
    again = load_statements(tmp_path / "out")
    assert (again.count, again.missing) == (3, ())
    rows = visits().to_pylist()
    for row in again.answer(1).table.to_pylist():
        assert abs(row["count"] - sum(each["ward"] == row["ward"] for each in rows)) < 6 * row["count_error"]
    assert again.answer(3).table.column_names[:2] == ["decade", "women"]
    assert again.answer(2).table["ward"].to_pylist() == made.answer(2).table["ward"].to_pylist()
    (further,) = again.sql_tables("select count(*) from visits where ward in ('eyes', 'ear')")
    assert further.table.num_rows == 1
    with pytest.raises(ValueError, match="there are statements 1 to 3, got 4"):
        again.answer(4)


def test_the_ledger_pays_for_each_part_and_never_twice(planned, tmp_path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    publish_statements(planned, visits(), out=tmp_path / "out", ledger=ledger)
    shutil.rmtree(tmp_path / "out" / "counts")
    with pytest.raises(SchemaMismatch, match="counts is missing; publish the statements again, which goes on with it"):
        load_statements(tmp_path / "out")
    with pytest.raises(BudgetExceeded):  # what was drawn is gone, and is paid for again like any other
        publish_statements(planned, visits(), out=tmp_path / "out", ledger=ledger)


def test_an_interrupted_folder_is_gone_on_with(planned, tmp_path, monkeypatch) -> None:
    ledger, out = tmp_path / "ledger.sqlite", tmp_path / "out"
    room = "dpress.release.statements.publish_statements.publish"
    calls = []

    def stopped(*arguments, **options):
        calls.append(options["out"].name)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    real = publish
    monkeypatch.setattr(room, stopped)
    with pytest.raises(KeyboardInterrupt):
        publish_statements(planned, visits(), out=out, ledger=ledger)
    assert len(load_statements(out, whole=False).missing) == 1
    monkeypatch.setattr(room, real)
    again = plan_statements(PURE, TEXT)
    assert publish_statements(again, visits(), out=out, ledger=ledger).missing == ()
    assert len(calls) == 2


def test_a_ledger_that_cannot_pay_for_all_pays_for_nothing(planned, tmp_path) -> None:
    poor = Ledger.create(tmp_path / "poor.sqlite", limit=PureDP(epsilon="0.9"), unit=ROW)
    with pytest.raises(BudgetExceeded):
        publish_statements(planned, visits(), out=tmp_path / "out", ledger=poor)
    assert not (tmp_path / "out").exists()


def test_rows_that_do_not_fit_a_later_part_are_refused_before_the_first_is_paid_for(planned, tmp_path) -> None:
    ledger, rows = tmp_path / "ledger.sqlite", visits()
    first, last = (set(part.planned.design.schema.names) for part in planned.parts)
    column = rows.column_names.index(min(last - first))
    empty = rows.set_column(column, rows.field(column), pa.nulls(rows.num_rows, rows.field(column).type))
    with pytest.raises(SchemaMismatch, match=rows.column_names[column]):
        publish_statements(planned, empty, out=tmp_path / "out", ledger=ledger)
    assert not ledger.exists()
    assert publish_statements(planned, rows, out=tmp_path / "out", ledger=ledger).missing == ()  # a corrected try


def test_other_statements_are_not_mixed_into_a_folder(planned, tmp_path) -> None:
    publish_statements(planned, visits(), out=tmp_path / "out")
    other = plan_statements(spec(), "select count(*) from visits")
    with pytest.raises(OSError, match="holds the answers to other statements; choose another folder"):
        publish_statements(other, visits(), out=tmp_path / "out")
    (tmp_path / "out" / "statements.json").write_text("{}")
    with pytest.raises(SchemaMismatch, match="is truncated or was edited"):
        load_statements(tmp_path / "out")


@pytest.mark.parametrize("weights", [(1,), (1, 2, 0), (1, 2, math.inf)])
def test_weights_are_one_for_each_statement(weights) -> None:
    with pytest.raises(ValueError, match="expected 3 weights above 0, one for each statement"):
        plan_statements(PURE, TEXT, weights=weights)


@pytest.mark.parametrize("stated", [{}, {"kind": "histogram", "attributes": ["sex"], "method": "identity"}])
def test_of_a_release_that_is_specified_only_texts_stay(stated) -> None:
    named = {"release": {**stated, "title": "Visits"}}
    made = plan_statements(PURE | named, "select ward, avg(cost) from visits group by ward")
    assert made.parts[0].planned.spec.release.title == "Visits"
    with pytest.raises(SchemaMismatch, match=r"^\$\.release: unknown field `colour`"):
        plan_statements(PURE | {"release": {"colour": "red"}}, "select count(*) from visits")


def test_statements_are_over_what_devices_do_not_hold() -> None:
    local = {"attribute": PURE["attribute"][:3], "privacy": {"model": "local", "epsilon": 1}}
    with pytest.raises(NotSupported, match="over a table that a curator holds, as a whole"):
        plan_statements(local, "select count(*) from visits")


@pytest.mark.parametrize(
    ("privacy", "counted"),
    [({}, ""), ({"unit": "person", "rows_per_unit": 3}, " counts each person once for a value, not its rows, and")],
)
def test_a_plan_says_what_is_counted_where_nobody_lists_the_values(privacy, counted) -> None:
    made = plan_statements(
        BASE | {"privacy": BASE["privacy"] | privacy},
        "select drug, count(*) from visits group by drug; select ward, count(*) from visits group by ward",
    )
    said = f"count(*) by drug, whose values nobody lists,{counted} leaves out values that few have."
    assert statements_text(made).remarks[1:-1] == (said,)
    listed = plan_statements(BASE, "select ward, count(*) from visits group by ward")
    assert len(statements_text(listed).remarks) == 2
