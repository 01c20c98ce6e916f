"""How many records there are: as many as rows where that is public, else an unbiased estimate with its exact error."""

import json
import math

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.kinds.microdata.people import ATTRIBUTES, spec, table

from dpress import SchemaMismatch, load_release, publish
from dpress.core.basics import rng
from dpress.data.rows import people
from dpress.data.table import Table
from dpress.inference.interval import half_width
from dpress.inference.row_count import RowCount
from dpress.kinds.microdata import plan_text
from dpress.kinds.microdata.page import page
from dpress.mechanisms.microdata import dp_prototypes
from dpress.mechanisms.microdata.record_maker import RecordMaker
from dpress.query.designs import mechanism_of
from dpress.release.plan.plan import plan
from dpress.release.plan.plan_text import number

RUNS = 24
FALSE_ALARM = 1e-6
"""Of every test here: Laplace sums of variance s^2 exceed t but for 4 exp(-t / s), and so do their means."""
WAYS = {
    "mixture": ("dp_prototypes", {"rows": "mixture"}),
    "representative": ("dp_prototypes", {"rows": "representative", "clusters": 12}),
    "graphical": ("graphical", {}),
}
REPLACED = {"epsilon": 1.0, "relation": "replace-one"}


def maker_of(way, privacy=None, attributes=ATTRIBUTES):
    method, parameters = WAYS[way]
    return mechanism_of(plan(spec(method, privacy, attributes, **parameters)).design)


def rows_of(maker, count):
    names = [one["name"] for one in ATTRIBUTES]
    schema = spec().schema
    return people(Table(table(count), names, maker.claim.unit), schema)


def drawn(maker, count, seed):
    """Return the estimated number of rows, and how many records there are."""
    made = maker.release(rows_of(maker, count), rng=rng.seeded(seed))
    sums = [float(part.answers.sum()) for part in made.measurement.parts]
    return maker.row_count(sums, made.codes.shape[1]), made.codes.shape[1]


def is_unbiased(maker, count, estimates):
    """Whether the mean of many estimates is near the number of rows."""
    far = math.sqrt(maker.row_variance / len(estimates)) * math.log(4 / FALSE_ALARM)
    return abs(np.mean(estimates) - count) <= far


@pytest.mark.slow
@pytest.mark.parametrize("count", [4, 400])
@pytest.mark.parametrize("way", ["mixture", "representative"])
def test_the_estimate_is_unbiased_and_the_file_has_its_nearest_whole_number(way, count):
    maker = maker_of(way)
    found = [drawn(maker, count, seed) for seed in range(RUNS)]
    assert is_unbiased(maker, count, [rows.value for rows, _ in found])
    for rows, records in found:
        assert records == max(0, round(rows.value))
        assert rows.variance == maker.row_variance


@pytest.mark.slow
def test_the_old_number_of_records_would_be_seen_to_be_too_large(monkeypatch):
    """The sum of the clusters' sizes, each cut off at zero."""

    def cut_off(sizes, records):
        del records
        return np.rint(np.maximum(sizes[:, 0], 0)).astype(np.int64)

    monkeypatch.setattr(dp_prototypes, "_whole", cut_off)
    maker = maker_of("mixture")
    assert not is_unbiased(maker, 4, [drawn(maker, 4, seed)[1] for seed in range(RUNS)])


@pytest.mark.parametrize("count", [4, 400])
def test_one_way_tables_alone_estimate_the_number_of_graphical(count):
    maker = maker_of("graphical")
    first, exact = maker.synthesizer.first, np.concatenate([np.full(one.size, 0) for one in maker.columns])
    exact[np.cumsum([0, *(one.size for one in maker.columns)])[:-1]] = count
    noisy = [first.noisy(exact.copy(), rng=rng.seeded(seed)) for seed in range(200)]
    found = [maker.row_count([float(part.answers.sum()) for part in one.parts], 0).value for one in noisy]
    assert is_unbiased(maker, count, found)
    assert np.std(found) == pytest.approx(math.sqrt(maker.row_variance), rel=0.3)


@pytest.mark.slow
@pytest.mark.parametrize(("way", "count"), [("mixture", 4), ("representative", 300), ("graphical", 4)])
def test_replaced_rows_are_as_many_records_as_rows(way, count):
    method, parameters = WAYS[way]
    release = publish(spec(method, REPLACED, **parameters), table(count), rng=rng.seeded(3))
    assert release.answers.made.table.num_rows == count
    assert release.answers.made.rows == RowCount(value=float(count), variance=0.0)
    total = release.query("total")
    assert (total.value, total.standard_error, total.interval) == (count, 0.0, (count, count))
    assert way == "graphical" or "that number is public" in page(release)


@pytest.mark.parametrize(
    ("attribute", "policy"), [(0, {"outside": "drop"}), (0, {"null": "drop"}), (2, {"other": "drop"})]
)
def test_where_rows_may_be_dropped_or_are_of_persons_no_number_of_rows_is_public(attribute, policy):
    dropping = [{**own, **(policy if place == attribute else {})} for place, own in enumerate(ATTRIBUTES)]
    assert maker_of("mixture", REPLACED).row_variance == 0
    for privacy, attributes in (
        (REPLACED, dropping),
        (None, ATTRIBUTES),
        (REPLACED | {"unit": "uid", "rows_per_unit": 2}, ATTRIBUTES),
    ):
        maker = maker_of("mixture", privacy, attributes)
        assert not maker.rows_are_public
        assert maker.row_variance > 0


@pytest.mark.slow
def test_a_release_says_the_number_with_its_error_and_reads_it_back(tmp_path):
    release = publish(spec(users=300), table(300), out=tmp_path / "out", rng=rng.seeded(5))
    rows, records = release.answers.made.rows, release.answers.made.table.num_rows
    half = half_width(rows.variance, 0.95, release.tail)
    said = json.loads((tmp_path / "out" / "release.json").read_text())
    assert said["rows"] == {
        "count": rows.value,
        "standard_error": math.sqrt(rows.variance),
        "low": rows.value - half,
        "high": rows.value + half,
    }
    assert said["records"] == records == round(rows.value) == pq.read_table(tmp_path / "out/records.parquet").num_rows
    total = load_release(tmp_path / "out").query("total")
    assert (total.value, total.interval) == (records, (rows.value - half, rows.value + half))
    assert any(line.startswith("Rows:    ") and "+-" in line for line in release.answers.announced)
    assert "The estimate is unbiased." in page(release)


@pytest.mark.slow
def test_a_number_of_rows_that_was_edited_is_refused_and_older_releases_have_none(tmp_path, edited):
    release = publish(spec(users=300), table(300), out=tmp_path / "out", rng=rng.seeded(5))
    edited(tmp_path / "out", lambda plain: plain["rows"].update(count=release.answers.made.rows.value + 1))
    with pytest.raises(SchemaMismatch, match="`rows` is not the one"):
        load_release(tmp_path / "out")
    edited(tmp_path / "out", lambda plain: plain.pop("rows"))
    older = load_release(tmp_path / "out")
    assert older.answers.made.rows is None
    assert math.isnan(older.query("total").standard_error)
    assert "The estimate is unbiased." not in page(older)


@pytest.fixture
def edited():
    def edit(folder, change):
        path = folder / "release.json"
        plain = json.loads(path.read_text())
        change(plain)
        path.write_text(json.dumps(plain))

    return edit


def test_records_of_a_fixed_number_claim_no_number_of_rows():
    maker = mechanism_of(plan(spec("per_record", users=50)).design)
    assert isinstance(maker, RecordMaker)
    assert maker.row_variance is None
    release = publish(spec("per_record", users=50), table(20), rng=rng.seeded(1))
    assert release.answers.made.rows is None
    assert "rows" not in release.manifest()


def test_the_plan_says_how_well_the_number_will_be_known():
    planned = plan(spec("graphical"))
    deviation = math.sqrt(planned.chosen.mechanism.row_variance)
    assert plan_text.plain(planned, planned.chosen)["rows_standard_error"] == deviation
    said = [str(one) for one in plan_text.text(planned).remarks]
    assert any(f"a standard error of {number(deviation)} (graphical)" in one for one in said)
    said = [str(one) for one in plan_text.text(plan(spec("graphical", REPLACED))).remarks]
    assert any("that number is public" in one for one in said)
    fixed = plan(spec("per_record", users=50))
    assert "rows_standard_error" not in plan_text.plain(fixed, fixed.chosen)
