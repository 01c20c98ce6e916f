"""What a ledger pays for releases that grow: in parallel, at once, never for rows that are refused."""

import datetime as dt
from fractions import Fraction

import pyarrow as pa
import pytest
from tests.release.periods.months import MONTHS, ROWS, VISITED, WARD, published, spec

from dpress.core.claim import PureDP, Unit
from dpress.core.errors import SchemaMismatch
from dpress.core.rng import seeded
from dpress.data.specification.spec import as_dict, from_dict
from dpress.ledger.ledger import Ledger
from dpress.release.periods.publish_period import publish_period
from dpress.release.periods.series import load_series
from dpress.release.release import Release


def test_separate_periods_compose_in_parallel_and_a_counter_is_paid_when_it_begins(tmp_path):
    for counter, entries in (("separate", 3), ("tree", 1), ("smooth", 1)):
        path = tmp_path / f"{counter}.db"
        published(tmp_path / counter, spec(counter), MONTHS[:3], ledger=path)
        summary = Ledger.open(path).summary()
        assert summary.spent == {"epsilon": Fraction(2)} == {"epsilon": summary.limit.epsilon}
        assert len(summary.entries) == entries
    own = load_series(tmp_path / "separate").id
    assert [one.partition for one in Ledger.open(tmp_path / "separate.db").summary().entries] == [
        f"visited by month, series {own}: {month}" for month in MONTHS[:3]
    ]


def test_periods_of_two_series_add_up_for_a_unit_may_be_in_one_of_each(tmp_path):
    """A person whose first period depends on the bounds, or a date that two formats read as two months."""
    begins = [dict(VISITED, bounds=[dt.date(2024, month, 1), dt.date(2024, 6, 30)]) for month in (1, 2)]
    both = pa.table({"visited": [dt.date(2024, 1, 5), dt.date(2024, 2, 5)], "ward": ["eyes"] * 2, "uid": [7, 7]})
    person = {"epsilon": 30.0, "unit": "uid", "rows_per_unit": 1}
    persons = [(spec(privacy=person, per_unit=1, attributes=(own, WARD)), both) for own in begins]
    (tmp_path / "rows.csv").write_text("visited,ward\n03/02/2024,eyes\n")
    formats = [{"source": str(tmp_path / "rows.csv"), "date_format": own} for own in ("%m/%d/%Y", "%d/%m/%Y")]
    rows = [(from_dict(as_dict(spec(privacy={"epsilon": 30.0})) | {"data": own}), None) for own in formats]
    for name, months, asked in (("persons", MONTHS[:2], persons), ("rows", ["2024-03", "2024-02"], rows)):
        ledger, counted = (
            Ledger.create(tmp_path / f"{name}.db", limit=PureDP(epsilon=60), unit=asked[0][0].privacy.protected),
            0,
        )
        for month, (own, data) in zip(months, asked, strict=True):
            publish_period(own, month, data, out=tmp_path / name / month, ledger=ledger, rng=seeded(1))
            counted += load_series(tmp_path / name / month).query("ward = eyes").value
        assert counted == 2  # once in each: noise of epsilon = 30 is 0
        assert ledger.summary().spent == {"epsilon": Fraction(60)}


def test_a_row_that_is_replaced_may_be_in_two_periods_and_costs_both(tmp_path):
    own = spec(privacy={"epsilon": 1.0, "relation": "replace-one"})
    published(tmp_path / "out", own, MONTHS[:3], ledger=tmp_path / "l.db")
    assert Ledger.open(tmp_path / "l.db").summary().spent == {"epsilon": Fraction(2)}


def test_rows_of_a_period_alone_do_not_tell_in_which_periods_a_person_counts(tmp_path):
    own = spec(privacy={"epsilon": 1.0, "unit": "uid", "rows_per_unit": 2}, per_unit=1)
    published(tmp_path / "out", own, MONTHS[:1], ledger=tmp_path / "l.db")
    before = Ledger.open(tmp_path / "l.db").summary().rows
    alone = ROWS.filter(pa.compute.greater_equal(ROWS["visited"], pa.scalar(dt.date(2024, 2, 1))))
    with pytest.raises(SchemaMismatch, match="expected the rows so far, of earlier periods too"):
        publish_period(own, "2024-02", alone, out=tmp_path / "out", ledger=tmp_path / "l.db")
    assert Ledger.open(tmp_path / "l.db").summary().rows == before


@pytest.mark.parametrize("counter", ["separate", "tree"])
def test_rows_that_are_refused_cost_nothing_and_bind_nobody(tmp_path, counter):
    with pytest.raises(SchemaMismatch, match="no column 'ward'"):
        publish_period(spec(counter), MONTHS[0], ROWS.drop(["ward"]), out=tmp_path / "out", ledger=tmp_path / "l.db")
    assert not Ledger.exists(tmp_path / "l.db")
    longer = spec(counter, attributes=(VISITED, WARD | {"values": ["eyes", "hearts", "feet"]}))
    assert published(tmp_path / "out", longer, MONTHS[:1], ledger=tmp_path / "l.db").periods == ("2024-01",)


@pytest.mark.parametrize("counter", ["separate", "tree"])
def test_a_ledger_that_did_not_pay_for_the_earlier_periods_is_refused(tmp_path, counter):
    own, other = spec(counter), Ledger.create(tmp_path / "o.db", limit=PureDP(epsilon=9), unit=Unit())
    published(tmp_path / "out", own, MONTHS[:1], ledger=tmp_path / "l.db")
    with pytest.raises(ValueError, match="another ledger paid"):
        publish_period(own, MONTHS[1], ROWS, out=tmp_path / "out", ledger=other)
    published(tmp_path / "free", own, MONTHS[:1])
    if counter == "tree":
        with pytest.raises(ValueError, match="was begun without one, and a counter is paid when it begins"):
            publish_period(own, MONTHS[1], ROWS, out=tmp_path / "free", ledger=other)
    else:
        with pytest.raises(ValueError, match=r"--ledger: a ledger paid for what .* holds; name it"):
            publish_period(own, MONTHS[1], ROWS, out=tmp_path / "out")
    assert other.summary().spent == {"epsilon": 0}
    assert len(load_series(tmp_path / "out").periods) == 1


@pytest.mark.parametrize("counter", ["separate", "smooth"])
def test_a_crash_between_charge_and_folder_refunds_nothing_and_the_next_period_follows(tmp_path, monkeypatch, counter):
    def killed(*_args, **_options):
        raise KeyboardInterrupt

    own, folder, ledger = (
        spec(counter),
        tmp_path / "out",
        Ledger.create(tmp_path / "l.db", limit=PureDP(epsilon=4), unit=Unit()),
    )
    with monkeypatch.context() as patch:
        patch.setattr(Release, "write", killed)
        with pytest.raises(KeyboardInterrupt):
            publish_period(own, MONTHS[0], ROWS, out=folder, ledger=ledger)
    assert load_series(folder).spans == ()
    assert ledger.summary().spent == {"epsilon": 2}
    assert published(folder, own, MONTHS[:2], ledger=ledger).periods == tuple(MONTHS[:2])
    assert ledger.summary().spent == {"epsilon": 4}  # the period that was charged twice, or the counter
