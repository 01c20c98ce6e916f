"""The tables that were asked for stand in the folder, also where one larger table was published; and as CSV."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from tests.kinds.conftest import AGE, PEOPLE, REGION, SEX

from dpress.cli.main import cli
from dpress.core.basics import rng
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.specification.spec import from_dict
from dpress.data.specification.toml import as_toml
from dpress.query.load import load_release
from dpress.query.release import Release
from dpress.release.curator.publish import publish
from dpress.release.devices.estimate import estimate
from dpress.release.devices.perturb import perturb
from dpress.reporting.page import page

pytestmark = pytest.mark.slow

ASKED = [["region"], ["sex", "age"]]


def published(out: Path | None = None, *, csv: bool = False, **release: Any) -> Release:
    asked = {"kind": "marginals", "method": "identity", "parameters": {"tables": ASKED}, **release}
    spec = from_dict({"attribute": [AGE, REGION, SEX], "privacy": {"epsilon": 1}, "release": asked})
    return publish(spec, PEOPLE, rng=rng.seeded(5), out=out, csv=csv)


def test_every_table_that_was_asked_for_is_a_file(tmp_path: Path) -> None:
    release = published(tmp_path / "out")
    assert release.answers.asked == {"region.parquet": ("region",), "sex-age.parquet": ("sex", "age")}
    table = pq.read_table(tmp_path / "out" / "sex-age.parquet")
    keys, numbers = ["sex", "age", "age_from", "age_below"], ["count", "standard_error", "low", "high", "adjusted"]
    assert table.column_names == [*keys, *numbers]
    assert table.num_rows == 40
    for row in table.slice(
        0,
        40,
    ).to_pylist()[::7]:
        result = release.query(f"sex = {row['sex']} and age = {row['age']}")
        numbers = row["count"], row["adjusted"], row["standard_error"]
        assert numbers == pytest.approx((result.unbiased, result.value, result.standard_error))
        assert (row["low"], row["high"]) == pytest.approx(result.interval)
    whole = pq.read_table(tmp_path / "out" / "age-region-sex.parquet")
    assert (
        pq.read_table(tmp_path / "out" / "region.parquet")["count"].to_numpy().sum() == whole["count"].to_numpy().sum()
    )


def test_intervals_of_sums_hold_the_truth_as_often_as_they_say() -> None:
    """2,004 sums of seeded noise at 95 %; intervals of half the width are found out."""
    held, halved, cells = 0, 0, 0
    truth = np.array([PEOPLE["region"].to_pylist().count(value) for value in (*REGION["values"], "X")])
    spec = from_dict(
        {
            "attribute": [SEX, REGION],
            "privacy": {"epsilon": 0.1},
            "release": {"kind": "marginals", "method": "identity", "parameters": {"tables": [["region"]]}},
        }
    )
    for seed in range(334):
        (table,) = publish(spec, PEOPLE, rng=rng.seeded(seed)).answers.asked_tables()
        rows = table.table()
        count, low, high = (rows[name].to_numpy() for name in ("count", "low", "high"))
        held += int(((low <= truth) & (truth <= high)).sum())
        halved += int((np.abs(truth - count) <= (high - low) / 4).sum())
        cells += truth.size
    assert 0.93 * cells <= held <= 0.99 * cells
    assert halved < 0.93 * cells


def test_tables_that_are_published_as_asked_have_no_second_file(tmp_path: Path) -> None:
    release = published(tmp_path / "out", method="marginals")
    assert release.answers.asked == {}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "measurement.parquet", "region.parquet", "release.json", "sex-age.parquet",
    ]  # fmt: skip


def test_adjusted_counts_of_a_sum_are_sums_of_adjusted_counts(tmp_path: Path) -> None:
    release = published(tmp_path / "out", postprocess=["nonnegative"])
    whole = release.answers.all_tables["age-region-sex.parquet"]["adjusted"].to_numpy().reshape(20, 6, 2)
    own = pq.read_table(tmp_path / "out" / "sex-age.parquet")["adjusted"].to_numpy().reshape(2, 20)
    np.testing.assert_allclose(own, whole.sum(axis=1).T)


def test_all_tables_are_written_as_csv(tmp_path: Path) -> None:
    published(tmp_path / "out", csv=True)
    names = {path.stem for path in (tmp_path / "out").glob("*.csv")}
    assert names == {"age-region-sex", "region", "sex-age"}
    for name in names:
        expected = pq.read_table(tmp_path / "out" / f"{name}.parquet")
        with (tmp_path / "out" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        assert header == expected.column_names
        found = zip(*rows, strict=True)
        for column, texts in zip(expected.columns, found, strict=True):
            assert [type(one)(text) for one, text in zip(column.to_pylist(), texts, strict=True)] == column.to_pylist()
    loaded = load_release(tmp_path / "out")
    assert loaded.csv
    assert "The same as CSV, for spreadsheets: age-region-sex.csv, region.csv and sex-age.csv." in page(loaded)
    assert "The same as CSV" not in page(published())


def test_the_page_names_the_files_and_says_that_the_folder_holds_the_sums(tmp_path: Path) -> None:
    published(tmp_path / "out")
    shown = page(load_release(tmp_path / "out"))
    for name in ("age-region-sex.parquet", "region.parquet", "sex-age.parquet"):
        assert f">{name}</td>" in shown
    assert "the folder holds the sums, too; the intervals are those of the sums" in shown


@pytest.mark.parametrize("name", ["sex-age.parquet", "sex-age.csv", "age-region-sex.csv"])
def test_a_missing_or_edited_file_is_refused(name: str, tmp_path: Path) -> None:
    published(tmp_path / "out", csv=True)
    with (tmp_path / "out" / name).open("ab") as file:
        file.write(b"x")
    with pytest.raises(SchemaMismatch, match=f"{name} differs from its checksum"):
        load_release(tmp_path / "out")
    (tmp_path / "out" / name).unlink()
    with pytest.raises(SchemaMismatch, match=f"{name} is missing"):
        load_release(tmp_path / "out")


def rewritten(folder: Path, change: Any) -> None:
    manifest = json.loads((folder / "release.json").read_text())
    change(manifest)
    (folder / "release.json").write_text(json.dumps(manifest))


def test_a_list_of_files_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    published(tmp_path / "out", csv=True)
    rewritten(tmp_path / "out", lambda manifest: manifest["sha256"].pop("region.csv"))
    with pytest.raises(SchemaMismatch, match="the list of checksums does not fit the list of tables"):
        load_release(tmp_path / "out")
    published(tmp_path / "other")
    rewritten(tmp_path / "other", lambda manifest: manifest["asked"].update({"region.parquet": ["sex"]}))
    with pytest.raises(SchemaMismatch, match="`asked` is not the one that the design"):
        load_release(tmp_path / "other")


def test_an_older_release_without_the_sums_is_read_and_shown(tmp_path: Path) -> None:
    def older(manifest: dict[str, Any]) -> None:
        del manifest["asked"]
        for name in ("region.parquet", "sex-age.parquet"):
            del manifest["sha256"][name]
            (tmp_path / "out" / name).unlink()

    published(tmp_path / "out")
    rewritten(tmp_path / "out", older)
    loaded = load_release(tmp_path / "out")
    shown = page(loaded)
    assert "the folder holds the sums" not in shown
    assert "sex-age.parquet" not in shown
    assert "added up from age-region-sex.parquet" in shown
    loaded.write(tmp_path / "again")
    assert not (tmp_path / "again" / "region.parquet").exists()


def test_a_collection_s_tables_records_and_fitted_joint_are_written_as_csv(tmp_path: Path) -> None:
    asked = {"kind": "joint", "method": "pairs"}
    attributes = [AGE | {"bounds": [0, 3]}, SEX, REGION]
    spec = from_dict({"attribute": attributes, "privacy": {"model": "local", "epsilon": 4}, "release": asked})
    perturb(spec, PEOPLE, out=tmp_path / "reports", rng=rng.seeded(1))
    estimate(spec, tmp_path / "reports", out=tmp_path / "out", records=7, csv=True)
    names = {path.name for path in (tmp_path / "out").glob("*.csv")}
    assert names == {"age-sex.csv", "age-region.csv", "sex-region.csv", "joint.csv", "records.csv"}
    with (tmp_path / "out" / "records.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    written = pq.read_table(tmp_path / "out" / "records.parquet").to_pylist()
    assert [dict(zip(header, row, strict=True)) for row in rows] == [
        {name: str(value) for name, value in one.items()} for one in written
    ]
    assert "records.csv" in page(load_release(tmp_path / "out"))


def test_the_commands_write_csv_and_name_what_was_asked_for(tmp_path: Path) -> None:
    attributes = [AGE, REGION, SEX]
    parameters = {"tables": ASKED}
    release = {"kind": "marginals", "method": "identity", "parameters": parameters}
    plain = {"attribute": attributes, "privacy": {"epsilon": 1}, "release": release}
    (tmp_path / "spec.toml").write_text(as_toml(plain), encoding="utf-8")
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    out = tmp_path / "out"
    options = [str(tmp_path / "spec.toml"), "--data", str(tmp_path / "people.parquet"), "--out", str(out), "--csv"]
    done = CliRunner().invoke(cli, ["publish", *options])
    assert done.exit_code == 0, done.output
    assert "Asked:   sex-age.parquet: sex x age, added up" in done.output
    assert {path.name for path in out.glob("*.csv")} == {"age-region-sex.csv", "region.csv", "sex-age.csv"}
