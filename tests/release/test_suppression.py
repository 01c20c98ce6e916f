"""Hidden and rounded numbers: post-processing of what is published, marked in every file, and queries answer."""

import datetime as dt
import itertools
import math
import re
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.kinds import reading
from tests.kinds.statistics import weighted_rows
from tests.kinds.statistics.test_replicates import parameters, survey

from dpress import NotSupported, load_release, load_series, plan, publish, publish_period, report
from dpress.core.basics import rng as generators
from dpress.data.specification.spec import from_dict
from dpress.document.design import as_plain, from_plain
from dpress.inference.suppression import Display, display_of
from dpress.reporting.bundle import write_bundle
from dpress.reporting.series_page import series_page
from dpress.reporting.series_parts import parts

REGIONS = ["north", "south", "east", "west"]
REGION = {"name": "region", "kind": "categorical", "values": REGIONS}
COST = {"name": "cost", "kind": "numeric", "bounds": [0, 100], "bins": 10}
BOTH = {"hide": ["cv > 0.2", "count < 12"], "round": 5}
SIZES = [400, 60, 12, 3]


def rows():
    regions = [name for name, size in zip(REGIONS, SIZES, strict=True) for _ in range(size)]
    return pa.table({"region": regions, "cost": [float(place % 97) for place in range(len(regions))]})


def released(release, attributes=(REGION,), out=None, **options):
    plain = {"attribute": [*attributes], "privacy": {"epsilon": 1}, "release": release}
    return publish(plain, rows(), out=out, rng=generators.seeded(5), **options)


def expected(table, cv, least, value="adjusted"):
    """Return by hand which rows of a table without rules are hidden."""
    number, error = table[value].to_numpy(), table["standard_error"].to_numpy()
    return [bool(e > cv * abs(n) or n < least) for n, e in zip(number, error, strict=True)]


def test_only_published_numbers_decide_and_a_hidden_row_is_null_and_marked(tmp_path):
    plain = released({"kind": "histogram"}, out=tmp_path / "plain")
    hidden = released({"kind": "histogram"} | BOTH, out=tmp_path / "hidden", csv=True)
    whole, table = (pq.read_table(tmp_path / name / "region.parquet") for name in ("plain", "hidden"))
    mask = expected(whole, 0.2, 12)
    assert any(mask)
    assert not all(mask)
    assert table["hidden"].to_pylist() == mask
    for name in ("count", "standard_error", "low", "high", "adjusted"):
        shown = [None if hides else value for hides, value in zip(mask, whole[name].to_pylist(), strict=True)]
        assert table[name].to_pylist() == shown
    assert table.schema.metadata[b"rounded_to"] == b"5"
    assert table.drop_columns("hidden").schema.remove_metadata() == whole.schema.remove_metadata()
    files = [(tmp_path / name / "measurement.parquet").read_bytes() for name in ("plain", "hidden")]
    assert files[0] == files[1]
    assert hidden.design.id == plain.design.id


def test_csv_has_multiples_of_the_base_and_intervals_that_hold_the_published_ones(tmp_path):
    released({"kind": "histogram"} | BOTH, out=tmp_path / "release", csv=True)
    exact = pq.read_table(tmp_path / "release" / "region.parquet")
    rounded = pa.csv.read_csv(tmp_path / "release" / "region.csv")
    assert rounded["hidden"].to_pylist() == exact["hidden"].to_pylist()
    for name, (near, far) in {"count": (-2.5, 2.5), "adjusted": (-2.5, 2.5), "low": (-5, 0), "high": (0, 5)}.items():
        for shown, published in zip(rounded[name].to_pylist(), exact[name].to_pylist(), strict=True):
            assert (shown is None) == (published is None)
            assert shown is None or (shown % 5 == 0 and near <= shown - published <= far)
    assert rounded["standard_error"].to_pylist() == exact["standard_error"].to_pylist()


def test_a_release_is_read_back_and_a_query_is_answered_with_a_note(tmp_path):
    made = released({"kind": "histogram"} | BOTH, out=tmp_path / "release")
    plain, again = released({"kind": "histogram"}), load_release(tmp_path / "release")
    for text in ("region = north", "region = west", "share region = north"):
        answers = [each.query(text) for each in (plain, made, again)]
        assert answers[0].value == answers[1].value == pytest.approx(answers[2].value)
        assert answers[0].interval == answers[1].interval == pytest.approx(answers[2].interval)
        hides = text == "region = west"
        note = "The release's tables hide a number such as this (cv > 0.2 or count < 12)."
        assert ((answers[1].note or "").endswith(note), answers[2].note) == (hides, answers[1].note)
    assert again.tables["region"].to_arrow().equals(made.tables["region"].to_arrow())


def test_a_group_of_few_is_hidden_with_all_its_statistics(tmp_path):
    wished = {"by": ["region"], "mean": ["cost"], "median": ["cost"]}
    out, release = tmp_path / "release", {"kind": "statistics", "parameters": wished}
    released(release | {"hide": "count < 30", "round": 3}, (REGION, COST), out=out, csv=True)
    table, written = pq.read_table(out / "statistics.parquet"), pa.csv.read_csv(out / "statistics.csv")
    counts = dict(zip(REGIONS, released(release, (REGION, COST)).answers.groups().of("count").value, strict=True))
    few = {name for name, count in counts.items() if count < 30}
    assert few == {"east", "west"}
    for row, shown in zip(table.to_pylist(), written.to_pylist(), strict=True):
        assert row["hidden"] == shown["hidden"] == (row["region"] in few)
        assert (row["value"] is None, row["low"] is None) == (row["hidden"],) * 2
        if row["statistic"] == "count" and not row["hidden"]:
            assert (shown["value"] % 3, abs(shown["value"] - row["value"]) <= 1.5) == (0, True)
        else:
            assert shown["value"] == row["value"]


def test_a_group_is_not_hidden_by_a_count_that_is_not_published():
    wished = {"by": ["region"], "median": ["cost"], "intervals": False}
    release = {"kind": "statistics", "method": "group_quantiles", "parameters": wished}
    plain = {"attribute": [REGION, COST], "privacy": {"epsilon": 1}}
    plan(plain | {"release": release | {"hide": "cv > 0.3"}})
    with pytest.raises(ValueError, match=r"^\$\.release\.hide: .* count, which these statistics do not publish; leave"):
        plan(plain | {"release": release | {"hide": "count < 10"}})


def test_a_notebook_shows_hidden_numbers_as_nothing_and_draws_the_others():
    made = released({"kind": "histogram"} | BOTH)
    table = made.tables["region"]
    shown = [bar.label for bar in table.bars]
    hides = table.to_arrow()["hidden"].to_pylist()
    assert shown == [name for name, hidden in zip(REGIONS, hides, strict=True) if not hidden]
    assert "nan" not in made._repr_html_() + table._repr_html_()
    assert table.plot().to_dict()["layer"]


def test_the_page_marks_what_is_hidden_says_how_many_and_answers_nothing_by_itself(tmp_path):
    parameters = {"by": ["region"], "mean": ["cost"]}
    kinds = [
        ({"kind": "histogram"} | BOTH, (REGION,), "of 4 numbers"),
        ({"kind": "statistics", "parameters": parameters} | BOTH, (REGION, COST), "of 15 numbers"),
        (
            {"kind": "queries", "parameters": {"queries": ["region = west", "region = north"]}} | BOTH,
            (REGION,),
            "1 of 2",
        ),
    ]
    for release, attributes, words in kinds:
        text = report(released(release, attributes), tmp_path / "page.html").read_text()
        assert words in text
        assert "the standard error is more than 20 % of the number or fewer than 12 are counted" in text
        assert '<td class="number">..</td>' in text
        assert "rounded to multiples of 5" in text
        assert 'type="application/json"' not in text
    plain = report(released({"kind": "histogram"}), tmp_path / "page.html").read_text()
    assert 'type="application/json"' in plain
    assert "That is for the reader" not in plain


def test_a_bundle_made_of_the_parquet_files_has_the_same_csv(tmp_path):
    made = released({"kind": "histogram"} | BOTH, out=tmp_path / "release")
    released({"kind": "histogram"} | BOTH, out=tmp_path / "other", csv=True)
    write_bundle(made, tmp_path / "release", tmp_path / "all.zip")
    with zipfile.ZipFile(tmp_path / "all.zip") as bundle:
        copy = bundle.read("region.csv")
    assert copy == (tmp_path / "other" / "region.csv").read_bytes()


@pytest.mark.parametrize("kind", ["joint", "microdata"])
def test_a_kind_that_hides_nothing_and_a_column_of_that_name_are_refused(kind):
    privacy, numbers = {"epsilon": 1}, COST | {"name": "hidden"}
    with pytest.raises(NotSupported, match=rf'^\$.release.hide: numbers of kind = ".*" are hidden, got "{kind}"$'):
        plan({"attribute": [REGION, COST], "privacy": privacy, "release": {"kind": kind, "hide": "cv > 0.3"}})
    with pytest.raises(ValueError, match="two columns 'hidden'; rename an attribute"):
        plan({"attribute": [numbers], "privacy": privacy, "release": {"kind": "histogram", "round": 5}})


@pytest.mark.parametrize("kind", ["histogram", "statistics"])
def test_a_series_hides_the_numbers_of_every_period(kind, tmp_path):
    dated = {"name": "day", "kind": "date", "bounds": ["2024-01-01", "2024-12-31"], "cells": "month"}
    release = {"kind": kind} | BOTH
    attributes = [dated, REGION]
    if kind == "statistics":
        attributes, release = [*attributes, COST], release | {"parameters": {"by": ["region"], "mean": ["cost"]}}
    plain = {"attribute": attributes, "privacy": {"epsilon": 1}, "periods": {"attribute": "day"}, "release": release}
    for month in (1, 2):
        days = pa.array([dt.date(2024, month, 1 + place % 28) for place in range(sum(SIZES))])
        table = rows().append_column("day", days)
        publish_period(from_dict(plain), f"2024-0{month}", table, out=tmp_path / "out", rng=generators.seeded(month))
    series = load_series(tmp_path / "out")
    files = [next(iter(each.answers.tables)) for each in series.releases.values()]
    folders = [tmp_path / "out" / name / file for name, file in zip(series.periods, files, strict=True)]
    hidden = [pq.read_table(folder)["hidden"].to_pylist() for folder in folders]
    assert all(any(each) and not all(each) for each in hidden)
    page = reading.text(series_page(series))
    for part in parts(series).shown:
        counts = part.counted
        numbers, shown = part.numbers, part.shown
        mask = (numbers.error > 0.2 * np.abs(numbers.value)) | (counts & (numbers.value < 12))
        if counts:
            assert np.array_equal(mask, shown.hidden)
            assert not np.any(shown.value[~mask] % 5)
        assert np.array_equal(np.isnan(shown.value), shown.hidden)
        assert shown.hidden.any() == bool(part.axes)
    numbers = [part.numbers.hidden for part in parts(series).shown]
    total = sum(each.size for each in numbers)
    assert f"are {sum(int(each.sum()) for each in numbers)} of {total} numbers: the standard error is more than" in page
    west = re.search(r"west( \.\.){4}", page)
    assert west is not None
    assert "data-list" not in series_page(series)


def test_a_design_keeps_the_rules_and_refuses_others():
    design = plan({"attribute": [REGION], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"} | BOTH}).design
    assert design.release == {"kind": "histogram", "postprocess": ["posterior"], **BOTH}
    assert from_plain(as_plain(design)) == design
    for name, value in {"hide": ["cv > none"], "round": 1.5, "colour": "red"}.items():
        with pytest.raises(ValueError, match=f"the design is wrong: .*{name}"):
            from_plain(as_plain(design) | {"release": design.release | {name: value}})


def test_a_bound_is_met_exactly_and_what_is_not_known_or_exact_stays():
    display = display_of({"hide": ["cv > 0.5", "width > 2"]})
    value = np.array([10.0, 10.0, 0.0, 0.0, np.nan, 10.0, 10.0, 10.0])
    error = np.array([5.0, 5.001, 0.0, 1.0, 1.0, np.nan, np.nan, np.inf])
    low, high = value - 1, value + 1
    low[2:4], high[2:4] = 0.0, 0.0
    low[5:], high[5:] = [np.nan, 0.0, -np.inf], [np.nan, 20.001, np.inf]
    hides = [False, True, False, True, False, False, True, True]
    assert display.hidden(value, error, (low, high), None).tolist() == hides
    for base, number in itertools.product((3, 5, 10), range(-20, 20)):
        rounded = Display(base=base).rounded(np.array([float(number)]))[0]
        assert rounded % base == 0
        assert abs(rounded - number) <= base / 2


@pytest.mark.parametrize("rule", ["cv < 0.3", "count > 3", "cv > 0", "cv > -1", "cv 0.3", "cv > 0.3x", "value < 3", ""])
def test_a_rule_of_another_form_is_refused(rule):
    with pytest.raises(ValueError, match=r'^\.hide: expected "cv > 0.3", "width > 0.5" or "count'):
        display_of({"hide": rule})


def test_with_replicates_noise_and_sampling_decide_together(tmp_path):
    """A share that noise alone would leave shown is hidden by its error of sampling, in the file and on the page."""
    made = weighted_rows.published(5, survey("jackknife")[0], {"rho": 900}, **parameters("jackknife"))
    error = [made[f"mean wage where region = {region}"] for region in ("north", "south")]
    noise, both = (max(each.standard_error / each.value for each in error), min(
        math.hypot(each.standard_error, each.sampling) / each.value for each in error))  # fmt: skip
    assert noise < both
    bound = (noise + both) / 2
    terms = {**weighted_rows.PARAMETERS, **parameters("jackknife")}
    release = {"kind": "statistics", "hide": f"cv > {bound:.6f}", "parameters": {k: v for k, v in terms.items() if v}}
    plain = {
        "attribute": [weighted_rows.REGION, weighted_rows.EMPLOYED, weighted_rows.WAGE, weighted_rows.WEIGHT],
        "privacy": {"rho": 900},
        "release": release,
    }
    shown = publish(plain, survey("jackknife")[0], out=tmp_path / "out", rng=generators.seeded(5))
    rows = pq.read_table(tmp_path / "out" / "statistics.parquet").to_pylist()
    of_means = [row for row in rows if row["statistic"] == "mean wage" and row["region"] in ("north", "south")]
    assert [row["hidden"] for row in of_means] == [True, True]
    assert "hide a number such as this" in str(shown["mean wage where region = north"].note)


def test_coefficients_near_zero_are_results_and_stay(tmp_path):
    number = {"name": "age", "kind": "integer", "bounds": [0, 99]}
    parameters_of = {"relations": ["age ~ pay"], "users": 400}
    release = {"kind": "statistics", "hide": "cv > 0.0001", "parameters": parameters_of}
    pay = {"name": "pay", "kind": "integer", "bounds": [0, 99]}
    spec = {"attribute": [number, pay], "privacy": {"epsilon": 50.0}, "release": release}
    table = pa.table({"age": [k * 37 % 100 for k in range(400)], "pay": [k * 61 % 100 for k in range(400)]})
    publish(spec, table, out=tmp_path / "out", rng=generators.seeded(5))
    table = pq.read_table(tmp_path / "out" / "statistics.parquet").to_pylist()
    hidden = {row["statistic"]: row["hidden"] for row in table}
    assert not hidden["coefficient pay in age ~ pay"]
    assert hidden["variance pay"]


def test_relations_whose_rows_may_lack_a_number_have_no_count_to_hide_by():
    number = {"name": "age", "kind": "integer", "bounds": [0, 99], "null": "none"}
    pay = {"name": "pay", "kind": "integer", "bounds": [0, 99]}
    release = {"kind": "statistics", "hide": "count < 10", "parameters": {"relations": ["age ~ pay"], "users": 400}}
    with pytest.raises(ValueError, match=r'hides groups by their count.*`null = "drop"`'):
        plan({"attribute": [number, pay], "privacy": {"epsilon": 1.0}, "release": release})


def test_a_note_goes_by_what_the_tables_hide_whatever_confidence_is_asked():
    release = released({"kind": "histogram", "hide": "width > 0.5"})
    count, surer = (release.query("region = north", confidence=confidence) for confidence in (0.95, 0.999))
    shares = [(each.interval[1] - each.interval[0]) / each.value for each in (count, surer)]
    assert shares[0] < shares[1]
    bound = sum(shares) / 2
    made = released({"kind": "histogram", "hide": f"width > {bound:.6f}"})
    for confidence in (0.5, 0.95, 0.999):
        assert "hide a number" not in str(made.query("region = north", confidence=confidence).note)


def test_a_statistic_of_a_group_that_is_hidden_by_its_count_has_the_note():
    parameters_of = {"by": ["region"], "mean": ["cost"]}
    made = released({"kind": "statistics", "hide": "count < 30", "parameters": parameters_of}, (REGION, COST))
    assert "hide a number such as this (count < 30)" in str(made["mean cost where region = west"].note)
    assert "hide a number" not in str(made["mean cost where region = north"].note)


def test_coefficients_of_a_group_of_few_are_hidden_with_it(tmp_path):
    pay = {"name": "pay", "kind": "numeric", "column": "cost", "bounds": [0, 100], "bins": 10}
    parameters_of = {"by": ["region"], "relations": ["cost ~ pay"], "users": 400}
    release = {"kind": "statistics", "hide": ["count < 30", "cv > 0.9"], "parameters": parameters_of}
    released(release, (REGION, COST, pay), out=tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "statistics.parquet").to_pylist()
    hidden = {row["region"]: row["hidden"] for row in table if row["statistic"] == "coefficient pay in cost ~ pay"}
    assert hidden["west"]
    assert not hidden["north"]
