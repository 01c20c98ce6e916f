"""What a ledger pays for releases that grow: in parallel, at once, never for rows that are refused."""

import datetime as dt
import json
import shutil
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from tests.release.periods.months import MONTHS, ROWS, VISITED, WARD, published, spec

from dpress.cli.publish import command
from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import BudgetExceeded, SchemaMismatch
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import seeded
from dpress.core.maps.spans import closing
from dpress.data.specification.spec import as_dict, from_dict
from dpress.ledger.ledger import Ledger, verify
from dpress.query.load import load_release
from dpress.query.release import Release
from dpress.release.curator.publish import publish
from dpress.release.periods.calendar import Calendar
from dpress.release.periods.publish_period import publish_period
from dpress.release.periods.series import load_series
from dpress.reporting.series_page import series_page


@pytest.mark.parametrize(
    ("counter", "layers"),  # of spans, that are paid after each month
    [("separate", [1] * 6), ("tree", [1, 2, 2, 3, 3, 3]), ("smooth", [1, 1, 1, 2, 2, 2])],
)
def test_every_span_is_a_line_of_the_ledger_and_all_of_them_cost_the_whole(tmp_path, counter, layers):
    path, own = tmp_path / "l.db", spec(counter)
    calendar, share = Calendar(own), Fraction(int(Fraction(2, max(layers)) * 10**12), 10**12)
    for month, paid in zip(MONTHS, layers, strict=True):
        series = published(tmp_path / "out", own, [month], ledger=path)
        assert Ledger.open(path).summary().spent == {"epsilon": paid * share}
    summary = Ledger.open(path).summary()
    assert summary.spent["epsilon"] <= summary.limit.epsilon == 2
    assert [one.partition for one in summary.entries] == [series.part(span) for span in calendar.spans]
    assert series.paid(path) == series.spans == calendar.spans
    assert series.unguarded == ()


@pytest.mark.parametrize("counter", ["separate", "tree", "smooth"])
@pytest.mark.parametrize("place", ["deleted", "older copy", "copy"])
def test_noise_that_is_drawn_again_is_not_drawn_for_nothing(tmp_path, counter, place):
    """The newest folder is deleted, an older copy is put back, or a copy goes on: the ledger knows what was drawn."""
    own, folder, ledger, copy = spec(counter), tmp_path / "out", tmp_path / "l.db", tmp_path / "copy"
    published(folder, own, MONTHS[:3], ledger=ledger)
    shutil.copytree(folder, copy)
    series = published(folder, own, MONTHS[3:4], ledger=ledger)
    if place == "deleted":
        for span in closing(series.spans, 3):
            shutil.rmtree(folder / series.calendar.folder(span))
    elif place == "older copy":
        shutil.rmtree(folder)
        copy.rename(folder)
    again = copy if place == "copy" else folder
    before, there = Ledger.open(ledger).summary(), {one.name for one in again.iterdir()}
    with pytest.raises(
        BudgetExceeded, match=r"the noise of 2024-0\d\S* was paid before: put its folder back, or go on"
    ):
        publish_period(own, MONTHS[3], ROWS, out=again, ledger=ledger)
    assert Ledger.open(ledger).summary() == before
    assert {one.name for one in again.iterdir()} == there
    publish_period(own, MONTHS[4], ROWS, out=again, ledger=ledger)  # what is lost does not stop the series
    assert load_series(again).periods == (*MONTHS[:3], MONTHS[4])
    with pytest.raises(ValueError, match="name it"):
        publish_period(own, MONTHS[5], ROWS, out=again)


@pytest.mark.parametrize("counter", ["separate", "tree"])
def test_noise_that_is_drawn_again_is_paid_again_where_there_is_more_than_the_series_needs(tmp_path, counter):
    own, folder = spec(counter), tmp_path / "out"
    ledger = Ledger.create(tmp_path / "l.db", limit=PureDP(epsilon=3), unit=Unit())
    series = published(folder, own, MONTHS[:1], ledger=ledger)
    shutil.rmtree(folder / MONTHS[0])
    if counter == "separate":
        with pytest.raises(BudgetExceeded, match="was paid before"):
            published(folder, own, MONTHS[:1], ledger=ledger)
        return
    assert published(folder, own, MONTHS, ledger=ledger).spans == series.calendar.spans
    assert [one.partition for one in ledger.summary().entries].count(series.part((0, 0))) == 2


@pytest.mark.parametrize("counter", ["separate", "tree"])
def test_an_older_copy_of_a_ledger_is_refused_by_what_the_series_remembers(tmp_path, counter):
    own, folder, ledger = spec(counter), tmp_path / "out", tmp_path / "l.db"
    published(folder, own, MONTHS[:1], ledger=ledger)
    shutil.copy(ledger, tmp_path / "old.db")
    series = published(folder, own, MONTHS[1:2], ledger=ledger)
    for span in closing(series.spans, 1):  # the description of the series remembers the ledger, too
        shutil.rmtree(folder / series.calendar.folder(span))
    with pytest.raises(ValueError, match=r"rows were cut off or rewritten.*series\.json keeps"):
        publish_period(own, MONTHS[1], ROWS, out=folder, ledger=tmp_path / "old.db")


def test_an_older_copy_of_a_ledger_is_refused_by_releases_beside_the_new_one(tmp_path):
    plain = {"attribute": [WARD], "privacy": {"epsilon": 1.0}, "release": {"kind": "histogram"}}
    ledger = Ledger.create(tmp_path / "l.db", limit=PureDP(epsilon=3), unit=Unit()).path
    other = Ledger.create(tmp_path / "other.db", limit=PureDP(epsilon=4), unit=Unit()).path
    publish(from_dict(plain), ROWS, out=tmp_path / "of_another", ledger=other)
    publish(from_dict(plain), ROWS, out=tmp_path / "of_none")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "release.json").write_text("{")
    shutil.copy(ledger, tmp_path / "old.db")
    first = publish(from_dict(plain), ROWS, out=tmp_path / "first", ledger=ledger)
    assert load_release(tmp_path / "first").ledger == first.ledger == verify(ledger).first != verify(other).first
    publish(from_dict(plain), ROWS, out=tmp_path / "second", ledger=ledger)
    before = verify(tmp_path / "old.db")
    with pytest.raises(
        ValueError, match=r"rows were cut off or rewritten.*first/release\.json keeps \(nor those of 1 more"
    ):
        publish(from_dict(plain), ROWS, out=tmp_path / "third", ledger=tmp_path / "old.db")
    assert verify(tmp_path / "old.db") == before
    assert not (tmp_path / "third").exists()


def test_a_period_before_one_that_a_ledger_paid_is_refused_for_persons_though_its_folder_is_gone(tmp_path):
    """Else somebody of March and April counts in February, too: three periods of two."""
    folder, path = tmp_path / "out", tmp_path / "l.db"
    own = spec(privacy={"epsilon": 1.0, "unit": "uid", "rows_per_unit": 1}, per_unit=2)
    ledger = Ledger.create(path, limit=PureDP(epsilon=5), unit=own.privacy.protected)
    series = published(folder, own, MONTHS[2:4], ledger=ledger)
    for month in MONTHS[2:4]:
        shutil.rmtree(folder / month)
    before = ledger.summary().rows
    for month in MONTHS[:3]:
        with pytest.raises(ValueError, match=r"drawn in order, lost ones too; the earliest that can follow is 2024-04"):
            publish_period(own, month, ROWS, out=folder, ledger=ledger)
    assert ledger.summary().rows == before
    assert published(folder, own, MONTHS[3:5], ledger=ledger).periods == tuple(MONTHS[3:5])
    assert [one.partition for one in ledger.summary().entries].count(series.part((3, 3))) == 2  # paid again


def test_the_first_period_of_persons_that_is_lost_needs_no_earlier_rows(tmp_path):
    own = spec(privacy={"epsilon": 1.0, "unit": "uid", "rows_per_unit": 1}, per_unit=1)
    ledger = Ledger.create(tmp_path / "l.db", limit=PureDP(epsilon=6), unit=own.privacy.protected)
    published(tmp_path / "out", own, MONTHS[:1], ledger=ledger)
    shutil.rmtree(tmp_path / "out" / MONTHS[0])
    assert published(tmp_path / "out", own, MONTHS[:1], ledger=ledger).periods == ("2024-01",)


def test_a_series_without_a_ledger_says_that_nothing_guards_it(tmp_path):
    series = published(tmp_path / "out", spec("tree"), MONTHS[:2])
    assert series.unguarded == series.spans
    assert json.loads((tmp_path / "out" / "series.json").read_text())["ledger"] is None
    assert "No ledger paid for 3 of its 3 spans" in " ".join(series_page(series).split())
    paid = published(tmp_path / "paid", spec("tree"), MONTHS[:1], ledger=tmp_path / "l.db")
    assert "No ledger paid" not in series_page(paid)
    assert (paid.ledger, paid.unguarded) == (verify(tmp_path / "l.db").first, ())


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
        with pytest.raises(ValueError, match="was begun without one, and a counter's spans share one loss"):
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

    own, folder = spec(counter), tmp_path / "out"
    ledger = Ledger.create(tmp_path / "l.db", limit=PureDP(epsilon=4), unit=Unit())
    with monkeypatch.context() as patch:
        patch.setattr(Release, "write", killed)
        with pytest.raises(KeyboardInterrupt):
            publish_period(own, MONTHS[0], ROWS, out=folder, ledger=ledger)
    assert load_series(folder).spans == ()
    share = ledger.summary().spent["epsilon"]
    assert share == (2 if counter == "separate" else 1)
    assert published(folder, own, MONTHS[:2], ledger=ledger).periods == tuple(MONTHS[:2])
    assert ledger.summary().spent == {"epsilon": 2 * share}  # of the period that was charged twice


def test_the_command_says_that_nothing_guards_a_series_without_a_ledger(tmp_path):
    pq.write_table(ROWS, tmp_path / "rows.parquet")
    (tmp_path / "spec.toml").write_text(
        '[data]\nsource = "rows.parquet"\n[[attribute]]\nname = "visited"\nkind = "date"\ncells = "month"\n'
        "bounds = [2024-01-10, 2024-06-20]\n[privacy]\nepsilon = 1.0\n"
        '[periods]\nattribute = "visited"\ncounter = "tree"\n[release]\nkind = "histogram"\n'
    )

    def said(*options, out="out", month=MONTHS[0]):
        arguments = [str(tmp_path / "spec.toml"), "--out", str(tmp_path / out), "--period", month, "--quiet", *options]
        done = CliRunner().invoke(command, arguments)
        assert done.exit_code == 0, done.output
        return done.output

    assert "Ledger:  none paid for 1 span: nothing keeps that noise from being drawn again" in said()
    assert json.loads(said("--json", month=MONTHS[1]))["unguarded"] == 3
    paid = said("--json", "--ledger", str(tmp_path / "l.db"), out="paid")
    assert json.loads(paid)["unguarded"] == 0
