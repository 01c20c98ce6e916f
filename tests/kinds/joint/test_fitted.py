"""Answers and a table from a fitted joint: where they come from, what they say of themselves, and what is refused."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from dpress.cli.query import command
from dpress.core.basics import rng
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.specification.spec import from_dict
from dpress.kinds.joint.fitted import caveat
from dpress.query.load import load_release
from dpress.query.release import Release
from dpress.release.devices.estimate import estimate
from dpress.release.devices.perturb import perturb

USERS = 4000
SIX = "size = 0 and a = 1 and b = 1 and c = 1 and d = 1 and e = 1"


def collected(folder: Path, attributes: int = 4, **release: Any) -> Release:
    """Return a joint of one attribute of three values and others of two."""
    names = ["size", "a", "b", "c", "d", "e"][:attributes]
    own = [{"kind": "integer", "name": name, "bounds": [0, 2 if name == "size" else 1]} for name in names]
    asked = {"kind": "joint", "method": "pairs", "parameters": {"ways": 2}, **release}
    spec = from_dict({"attribute": own, "privacy": {"model": "local", "epsilon": 4.0}, "release": asked})
    people = {name: [(row * (place + 3) // 5) % (2 + (name == "size")) for row in range(USERS)] for place, name in
              enumerate(names)}  # fmt: skip
    perturb(spec, pa.table(people), out=folder / "reports.parquet", rng=rng.seeded(1))
    return estimate(spec, folder / "reports.parquet")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return collected(tmp_path_factory.mktemp("joint"))


@pytest.fixture(scope="module")
def written(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release.write(tmp_path_factory.mktemp("folder") / "release")


def test_a_query_that_no_table_answers_is_the_fitted_joints(release: Release) -> None:
    found = release.query("size in 1..2 and a = 1 and c = 0")
    assert release.answers.fitted is not None
    exact = release.answers.fitted.marginal((0, 1, 3))[1:, 1, 0].sum() * USERS
    assert found.value == pytest.approx(exact)
    assert found.standard_error > 0
    assert found.interval[1] - found.value == found.value - found.interval[0] >= 2 * found.standard_error
    assert found.note == caveat(2, 4)
    wide = release.query("size in 1..2 and a = 1 and c = 0", confidence=0.99)
    assert wide.interval[0] < found.interval[0]
    with pytest.raises(ValueError, match="strictly between"):
        release.query("size = 1 and a = 1 and c = 0", confidence=1.0)


def test_a_query_that_a_table_answers_stays_unbiased_and_without_a_note(release: Release) -> None:
    found = release.query("size = 1 and a = 1")
    table = next(
        one for one in release.answers.all_tables.values() if one.column_names[0] == "size" and "a" in one.column_names
    )
    assert found.value == pytest.approx(table["count"][3].as_py())
    assert found.note is None
    assert release.query("total").note is None


def test_the_refits_are_drawn_once_and_always_the_same(release: Release) -> None:
    done: list[int] = []
    again = replace(release)
    first = again.query("size = 1 and a = 1 and b = 1", progress=done.append)
    assert done == list(range(1, 31))
    assert again.query("size = 1 and a = 1 and b = 1", progress=done.append) == first
    assert len(done) == 30
    assert release.query("size = 1 and a = 1 and b = 1") == first
    replace(release).query("mean size where a = 1 and b = 1", progress=done.append)
    assert done[30:] == list(range(1, 31))


def test_the_joint_is_written_with_errors_and_read_back(release: Release, written: Path) -> None:
    table = pq.read_table(written / "joint.parquet")
    assert table.num_rows == 24
    assert [name for name in table.column_names if "_" not in name] == ["size", "a", "b", "c", "fitted", "low", "high"]
    assert sum(table["fitted"].to_pylist()) == pytest.approx(USERS)
    place = np.ravel_multi_index((2, 0, 1, 1), (3, 2, 2, 2))
    row = table.slice(int(place), 1).to_pylist()[0]
    assert (row["size"], row["a"], row["b"], row["c"]) == ("2", "0", "1", "1")
    asked = release.query("size = 2 and a = 0 and b = 1 and c = 1")
    assert (row["fitted"], row["standard_error"]) == pytest.approx((asked.value, asked.standard_error))
    assert (row["low"], row["high"]) == pytest.approx(asked.interval)
    manifest = json.loads((written / "release.json").read_text())
    assert manifest["joint"] == ["size", "a", "b", "c"]
    assert "joint.parquet" in manifest["sha256"]
    loaded = load_release(written)
    assert loaded.query("size = 2 and a = 0 and b = 1 and c = 1").value == pytest.approx(asked.value)


@pytest.mark.parametrize("damage", ["missing", "edited", "renamed", "unlisted"])
def test_a_damaged_joint_is_refused(release: Release, tmp_path: Path, damage: str) -> None:
    folder = release.write(tmp_path / "release")
    manifest = json.loads((folder / "release.json").read_text())
    if damage == "missing":
        (folder / "joint.parquet").unlink()
    elif damage == "edited":
        (folder / "joint.parquet").write_bytes((folder / "joint.parquet").read_bytes() + b" ")
    elif damage == "renamed":
        manifest["joint"] = ["a", "b"]
    else:
        del manifest["sha256"]["joint.parquet"]
    (folder / "release.json").write_text(json.dumps(manifest))
    with pytest.raises(SchemaMismatch, match=r"joint|checksum"):
        load_release(folder)


def test_a_fit_of_reports_has_no_error_and_says_what_answers_more(tmp_path: Path) -> None:
    release = collected(tmp_path, attributes=6, method="rr_ldp", parameters={})
    if not release.answers.together([np.zeros(1)] * 6):  # tables of six attributes answer it
        with pytest.raises(
            ValueError, match=r'the tables are .*; a collection with method = "pairs" answers it'
        ) as error:
            release.query(SIX)
        assert "\n" not in str(error.value)
    assert release.answers.refits() is None
    assert release.answers.joint_table() is None
    folder = release.write(tmp_path / "release")
    assert not (folder / "joint.parquet").exists()
    assert "joint" not in json.loads((folder / "release.json").read_text())
    assert load_release(folder).users == USERS


def test_a_release_without_a_joint_refuses_as_ever(tmp_path: Path) -> None:
    own = [{"kind": "integer", "name": name, "bounds": [0, 1]} for name in "ab"]
    spec = from_dict(
        {"attribute": own, "privacy": {"model": "local", "epsilon": 1.0}, "release": {"kind": "marginals"}}
    )
    perturb(spec, pa.table({"a": [0, 1] * 50, "b": [1, 1] * 50}), out=tmp_path / "r.parquet", rng=rng.seeded(1))
    with pytest.raises(ValueError, match=r"the tables are a, b$"):
        estimate(spec, tmp_path / "r.parquet").query("a = 1 and b = 1")


def test_one_question_about_everything_says_what_it_is_drawn_toward(tmp_path: Path) -> None:
    release = collected(tmp_path, attributes=3, method="subset_selection", parameters={})
    if (found := release.query("size = 1 and a = 1 and b = 1")).note is not None:
        assert found.note == caveat(3, 3)
        assert "smaller tables" in found.note


def test_the_command_prints_the_note_once(written: Path) -> None:
    three, four = "size = 1 and a = 1 and b = 1", "size = 1 and a = 1 and b = 1 and c = 0"
    shown = CliRunner().invoke(command, [str(written), three, four, "a = 1"])
    assert shown.exit_code == 0, shown.output
    assert shown.output.count("not what pairs of attributes cannot see") == 1
    assert shown.output.rstrip().endswith(caveat(2, 4))
    assert "note" not in CliRunner().invoke(command, [str(written), "a = 1"]).output
    plain = json.loads(CliRunner().invoke(command, [str(written), three, "a = 1", "--json"]).stdout)
    keys = ["query", "value", "standard_error", "interval", "confidence", "note"]
    assert [list(one) for one in plain] == [keys, keys[:-1]]
    assert plain[0]["note"] == caveat(2, 4)
    assert math.isfinite(plain[0]["standard_error"])


def test_the_fitted_joint_is_a_table_by_the_names_of_all_attributes(release: Release, written: Path) -> None:
    """With its errors where its file has them; made when it is asked for, and the same for every reader."""
    own = replace(release)
    found = own.tables["c", "size", "a", "b"]
    assert "_refits" not in own.answers.__dict__
    table = found.to_arrow()
    assert table.equals(pq.read_table(written / "joint.parquet"))
    assert found.to_polars()["fitted"].to_list() == found.to_pandas()["fitted"].tolist()
    assert sum(table["fitted"].to_pylist()) == pytest.approx(USERS)
    assert list(own.tables)[-1] == own.schema.names


def test_a_joint_without_errors_is_a_table_of_its_counts_alone(tmp_path: Path) -> None:
    own = collected(tmp_path, 3, method="independent", parameters={})
    table = own.tables["size", "a", "b"].to_arrow()
    assert table.column_names[-1] == "fitted"
    assert "standard_error" not in table.column_names
    assert table["fitted"].to_pylist() == pytest.approx((own.answers.fitted.marginal((0, 1, 2)) * USERS).ravel())


def test_a_joint_of_more_cells_than_stated_is_no_table(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = math.prod(release.schema.shape)
    for most, listed in ((cells, True), (cells - 1, False)):
        monkeypatch.setattr("dpress.kinds.joint.answers.MOST_CELLS", most)
        assert (release.schema.names in replace(release).tables) is listed


def test_a_published_table_of_all_attributes_stands_before_the_fitted_one(tmp_path: Path) -> None:
    own = collected(tmp_path, 3, method="rr_ldp", parameters={})
    assert "adjusted" in own.tables["size", "a", "b"].to_arrow().column_names
