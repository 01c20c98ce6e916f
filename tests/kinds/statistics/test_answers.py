"""Releases of statistics: published, read back, asked, compared with the truth."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.kinds.statistics.statistics_spec import AGE, COST, WARD, spec, table

from dpress import evaluate, load_release, publish
from dpress.core.basics import rng
from dpress.core.basics.errors import SchemaMismatch
from dpress.query.release import Release

SURE = {"epsilon": 500.0}


def published(privacy: Any = None, data: pa.Table | None = None, **changes: Any) -> Release:
    return publish(spec(privacy=privacy, **changes), table() if data is None else data, rng=rng.seeded(1))


def test_with_hardly_any_noise_statistics_are_those_of_the_rows() -> None:
    release, rows = published(SURE), table().to_pandas()
    for ward in ("eyes", "hearts"):
        own = rows[rows.ward == ward]
        where = f" where ward = {ward}"
        assert release.query(f"ward = {ward}").value == pytest.approx(len(own), abs=1)
        assert release.query("mean cost" + where).value == pytest.approx(own.cost.mean(), abs=0.2)
        assert release.query("sum cost" + where).value == pytest.approx(own.cost.sum(), abs=500)
        assert release.query("variance age" + where).value == pytest.approx(own.age.var(ddof=0), rel=0.01)
        assert release.query("share sex = f" + where).value == pytest.approx((own.sex == "f").mean(), abs=0.001)
        assert release.query("median age" + where).value == pytest.approx(own.age.median(), abs=1)
        assert release.query("quantile 0.25 of cost" + where).value == pytest.approx(own.cost.quantile(0.25), abs=3)
    assert release.query("mean cost").value == pytest.approx(rows.cost.mean(), abs=0.2)


def test_an_empty_group_has_an_interval_and_no_value() -> None:
    found = published().query("mean cost where ward = none")
    assert math.isnan(found.value)
    assert found.interval == pytest.approx((0, 1000), abs=0.01)
    assert "not distinguishable from zero" in str(found.note)


def test_the_folder_is_a_row_for_every_group_and_statistic_and_is_read_back(tmp_path: Path) -> None:
    release = published()
    release.write(tmp_path / "out")
    found = pq.read_table(tmp_path / "out" / "statistics.parquet")
    assert found.column_names == ["ward", "statistic", "value", "standard_error", "low", "high"]
    assert found.num_rows == 4 * len(release.answers.groups().names)
    assert found["ward"].null_count == len(release.answers.groups().names)
    again = load_release(tmp_path / "out")
    assert again.query("mean cost where ward = eyes") == release.query("mean cost where ward = eyes")
    assert again.tables["ward"].to_arrow().equals(found)


def test_a_folder_that_was_edited_is_refused(tmp_path: Path) -> None:
    folder = published().write(tmp_path / "out")
    manifest = (folder / "release.json").read_text()
    (folder / "release.json").write_text(manifest.replace('"mean cost"', '"mean age"'))
    with pytest.raises(SchemaMismatch, match="`statistics` is not the one"):
        load_release(folder)


def test_counts_of_groups_are_compared() -> None:
    release, rows = published(SURE), table().to_pandas()
    eyes, hearts = (int((rows.ward == ward).sum()) for ward in ("eyes", "hearts"))
    assert release.ratio("ward = eyes", "ward = hearts").value == pytest.approx(eyes / hearts, abs=0.001)
    found = release.difference("ward = eyes", "ward = hearts")
    assert found.value == pytest.approx(eyes - hearts, abs=2)
    assert release.share("ward = eyes").value == pytest.approx(eyes / len(rows), abs=0.001)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("mean salary", "there is no attribute 'salary'"),
        ("mean cost where sex = f", "sex makes no groups for `by` and conditions; this release has count, "),
        ("quantile 1.5 of cost", "a level strictly between 0 and 1, got 1.5"),
        ("variance cost", "there is no statistic 'variance cost'"),
        ("mean sex", "expected an integer or numeric attribute, sex is categorical"),
    ],
)
def test_what_was_not_measured_is_refused(query: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        published().query(query)


def test_rows_without_a_value_are_counted_and_left_out_of_the_mean() -> None:
    data = pa.table({"ward": ["eyes"] * 400 + ["hearts"] * 600, "cost": [100.0] * 300 + [None] * 100 + [700.0] * 600})
    own: dict[str, Any] = {"variance": None, "median": None, "quantiles": None, "share": None}
    release = published(SURE, data, attributes=[WARD, COST | {"null": "unknown"}], **own)
    assert release.query("ward = eyes").value == pytest.approx(400, abs=1)
    assert release.query("mean cost where ward = eyes").value == pytest.approx(100, abs=0.5)
    assert release.query("mean cost").value == pytest.approx((300 * 100 + 600 * 700) / 900, abs=0.5)


def test_all_rows_may_be_one_group() -> None:
    own: dict[str, Any] = {"by": None, "variance": None, "quantiles": None, "share": None}
    release = published(SURE, attributes=[COST, AGE], **own)
    assert release.query("mean cost").value == pytest.approx(table()["cost"].to_numpy().mean(), abs=0.2)
    assert [*release.tables] == [()]


def test_persons_keep_a_bounded_number_of_rows() -> None:
    privacy = {"epsilon": 50.0, "unit": "uid", "rows_per_unit": 2}
    release = published(privacy)
    assert release.claim.unit.rows == 2
    assert release.query("total").value == pytest.approx(3000, abs=20)  # of 1,500 persons with four rows each
    assert "at most 2 rows for each uid" in str(release.query("mean cost").note)


def test_errors_are_those_that_evaluate_finds() -> None:
    metrics = evaluate(published(), table())
    assert metrics["groups"] == 3
    assert metrics["groups with rows"] == 2
    assert metrics["mean cost: within interval"] == 1
    assert 0 < metrics["mean cost: root mean squared error"] < 20
    assert metrics["mean cost: not published"] == 0


def test_the_error_of_a_count_is_exact() -> None:
    own: dict[str, Any] = {
        "variance": None,
        "median": None,
        "quantiles": None,
        "share": None,
        "attributes": [WARD, COST],
    }
    runs = [publish(spec(**own), table(600), rng=rng.seeded(run)).query("ward = eyes") for run in range(400)]
    values = np.array([one.value for one in runs])
    assert values.std() == pytest.approx(runs[0].standard_error, rel=0.15)
