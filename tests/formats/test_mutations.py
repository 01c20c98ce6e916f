"""Edited designs and releases are read or refused in one way, whatever was edited, and never hang or fill their reader.

An edit is followed by every checksum that somebody who wants to be read would compute again.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.formats import limits
from tests.formats.mutations import Dice, damaged, mutated, text_of

import dpress
from dpress.core.basics.errors import SchemaMismatch
from dpress.document.design import fingerprint, from_plain

STORED = Path(__file__).with_name("stored")
PLACES = sorted(path.parent.name for path in STORED.glob("*/design.json"))
STEPS = 2_000_000  # calls of functions in one reading; the longest of an unedited one takes a tenth of that
MEMORY = 1 << 30  # bytes by which all readings together may raise the most that the process ever held
FEW, MANY = 4, 30


@pytest.fixture(autouse=True)
def _little_memory():
    with limits.memory(MEMORY):
        yield


def read(reader, path):
    """Read and say whether it was refused; raises what is not documented, and where there is no end to it."""
    try:
        with limits.steps(STEPS, path):
            reader(path)
    except SchemaMismatch:
        return True
    return False


def edited_designs(name, tmp_path, number):
    document, dice = json.loads((STORED / name / "design.json").read_text()), Dice(PLACES.index(name))
    for _ in range(number):
        path = tmp_path / "design.json"
        path.write_text(text_of(mutated(document, dice)))
        yield read(dpress.load_design, path)


def copied(name, folder):
    folder.mkdir()
    for path in (STORED / name / "release").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def consistent(description):
    """Return a description whose hashes fit its design, where it still is one."""
    try:
        hashes = {"design_hash": fingerprint(description["design"])}
        hashes["design_id"] = from_plain(description["design"]).id
    except (ValueError, LookupError, TypeError):
        return description
    return {**description, **hashes}


def edited_releases(name, tmp_path, number):
    folder, dice = copied(name, tmp_path / "release"), Dice(1000 + PLACES.index(name))
    description = json.loads((folder / "release.json").read_text())
    for _ in range(number):
        of_design = {**description, "design": mutated(description["design"], dice)}
        changed = consistent(of_design) if dice.below(3) else mutated(description, dice)
        (folder / "release.json").write_text(text_of(changed))
        yield read(dpress.load_release, folder)


def replaced(folder, file, content):
    """Write a file of a release anew, with its checksum."""
    (folder / file).write_bytes(content)
    description = json.loads((folder / "release.json").read_text())
    description["sha256"][file] = hashlib.sha256(content).hexdigest()
    (folder / "release.json").write_text(json.dumps(description))


def damaged_releases(name, tmp_path, number):
    """Damage the Parquet files that are read."""
    dice = Dice(2000 + PLACES.index(name))
    files = ["measurement.parquet", *(["records.parquet"] if name.startswith("records") else [])]
    folder = copied(name, tmp_path / "damaged")
    for file in files:
        content = (STORED / name / "release" / file).read_bytes()
        for _ in range(number):
            replaced(folder, file, damaged(content, dice))
            try:
                yield read(dpress.load_release, folder)
            except OSError:  # documented: the file cannot be read
                yield True
        replaced(folder, file, content)


@pytest.mark.parametrize("name", PLACES)
def test_a_few_edits_are_refused_or_read(name, tmp_path):
    assert any(list(edited_designs(name, tmp_path, FEW)))
    assert any(list(edited_releases(name, tmp_path, FEW)))


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("name", PLACES)
def test_many_edits_are_refused_or_read(name, tmp_path):
    for edits in (edited_designs, edited_releases, damaged_releases):
        refused = list(edits(name, tmp_path, MANY))
        assert sum(refused) > len(refused) / 3


def test_answers_that_no_measurement_gave_are_refused(tmp_path):
    folder = copied("histogram", tmp_path / "release")
    kept = pq.read_table(folder / "measurement.parquet")["answer"].to_numpy()
    for answers in (kept[1:], kept[:0], np.append(kept, 0), kept.astype(np.float64), kept.astype(str)):
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table({"answer": pa.array(answers)}), sink)
        replaced(folder, "measurement.parquet", sink.getvalue().to_pybytes())
        assert read(dpress.load_release, folder)


def test_a_file_that_promises_more_rows_than_it_has_bytes_is_refused_by_its_footer(tmp_path):
    folder, sink = copied("histogram", tmp_path / "release"), pa.BufferOutputStream()
    rows = 1 << 24
    zeros = pa.table({"answer": np.zeros(rows, dtype=np.int64)})
    one_page = {"row_group_size": rows, "write_batch_size": rows, "max_rows_per_page": rows, "data_page_size": 1 << 30}
    pq.write_table(zeros, sink, compression="zstd", **one_page)
    content = sink.getvalue().to_pybytes()
    assert len(content) < rows / 512
    replaced(folder, "measurement.parquet", content)
    with pytest.raises(SchemaMismatch, match=r"16,777,216 rows do not fit into [\d,]+ bytes"):
        dpress.load_release(folder)


def test_a_huge_description_is_refused_unread(tmp_path):
    folder = copied("histogram", tmp_path / "release")
    with (folder / "release.json").open("r+b") as file:
        file.truncate(1 << 40)  # a hole
    with pytest.raises(SchemaMismatch, match="expected at most"):
        dpress.load_release(folder)


def test_a_step_budget_ends_what_does_not_end():
    def endless(_path):
        while True:
            len("")

    with pytest.raises(limits.TooManyStepsError):
        read(endless, "nowhere")
