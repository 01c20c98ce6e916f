"""What is handed out beside the page: the bundle, and the record for the registry of deployments."""

import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
import yaml

import dpress
from dpress.core import rng
from dpress.core.errors import NotSupported
from dpress.release.folder import check_new
from dpress.reporting.bundle import check_bundle, write_bundle
from dpress.reporting.registry import TODO, as_yaml, record, to_do, write_record

SECRET = "nobody may read this"  # planted
SPEC = {
    "data": {"source": f"/{SECRET}/rows.csv"},
    "attribute": [
        {"name": "sex", "kind": "categorical", "values": ["f", "m"]},
        {"name": "age", "kind": "integer", "bounds": [0, 9]},
    ],
    "privacy": {"epsilon": 0.5, "unit": "uid", "rows_per_unit": 2},
    "release": {
        "kind": "histogram", "title": 'Visits: "all"', "source": "a survey", "licence": "CC BY 4.0",
        "postprocess": ["nonnegative"],
    },
}  # fmt: skip
ROWS = pa.table({"sex": ["f", "m"] * 300, "age": [row % 10 for row in range(600)], "uid": list(range(600))})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release, paid by a ledger whose name tells something."""
    place = tmp_path_factory.mktemp("bundle") / SECRET
    place.mkdir()
    dpress.publish(dpress.load_spec(SPEC), ROWS, out=place / "release", ledger=place / "ledger.db", who=SECRET)
    return place / "release"


def test_a_bundle_holds_what_a_reader_needs_and_nothing_of_the_publisher(folder: Path, tmp_path: Path) -> None:
    first, second = write_bundle(folder, tmp_path / "a.zip"), write_bundle(folder, tmp_path / "b.zip")
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as packed:
        content = {name: packed.read(name) for name in packed.namelist()}
    assert set(content) >= {"report.html", "release.json", "design.json", "LICENCE.txt", "README.txt", "table_1.csv"}
    assert content["LICENCE.txt"] == b"CC BY 4.0\n"
    assert b"Licence: CC BY 4.0" in content["report.html"]
    assert all(name in content["README.txt"].decode() for name in content if name != "README.txt")
    (tmp_path / "table_1.csv").write_bytes(content["table_1.csv"])
    table = pq.read_table(folder / "table_1.parquet")
    assert pacsv.read_csv(tmp_path / "table_1.csv").column_names == table.column_names
    assert json.loads(content["design.json"]) == json.loads(content["release.json"])["design"]
    told = [name for name, own in content.items() if SECRET.encode() in own]
    assert told == []
    with pytest.raises(FileExistsError):
        write_bundle(folder, first)
    for wrong, error in (("a.tar", NotSupported), (str(first), FileExistsError), ("none/a.zip", FileNotFoundError)):
        with pytest.raises(error):
            check_bundle(wrong)
    check_new(tmp_path / "new")


def test_the_record_is_derived_and_says_what_only_a_person_knows(folder: Path, tmp_path: Path) -> None:
    release = dpress.load_release(folder)
    left = write_record(release, tmp_path / "registry.yaml")
    text = (tmp_path / "registry.yaml").read_text()
    found = yaml.safe_load(text)
    assert found == record(release)
    assert SECRET not in text
    own = found["deployment"]
    assert own["basic"]["name"] == 'Visits: "all"'
    assert own["privacy_loss"]["privacy_unit"] == "uid"
    assert own["privacy_loss"]["privacy_parameters"] == {"epsilon": 0.5}
    assert (
        "all rows of one uid, of which 2 at most are kept, which is added"
        in own["privacy_loss"]["privacy_unit_description"]
    )
    assert own["accounting"]["composition"].startswith("The parts of this release add up to epsilon = 0.5. A ledger")
    assert "nonnegative" in own["accounting"]["post_processing"]
    assert left == to_do(found) == text.count(TODO) > 5


def test_a_record_of_devices_says_local_and_a_seeded_one_is_refused(tmp_path: Path) -> None:
    asked = dpress.load_spec(
        {
            "attribute": SPEC["attribute"][:1],
            "privacy": {"model": "local", "epsilon": 1},
            "release": {"kind": "histogram"},
        }
    )
    design = dpress.plan(asked).design
    dpress.perturb(design, ROWS, out=tmp_path / "reports.parquet")
    found = record(dpress.estimate(design, tmp_path / "reports.parquet", out=tmp_path / "release"))
    assert yaml.safe_load(as_yaml(found)) == found
    assert found["deployment"]["deployment_model"]["model_name"] == "Local"
    assert found["deployment"]["privacy_loss"]["privacy_unit"] == "device"
    with pytest.raises(NotSupported, match="a seeded release protects nobody"):
        record(dpress.publish(dpress.load_spec(SPEC), ROWS, rng=rng.seeded(1)))
