"""A folder of reports gives the release that one file gives, whatever adds them up."""

import functools
from collections import Counter
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.release.people import AGE, PEOPLE, SEX, spec

from dpress.core.basics import rng
from dpress.core.reports import wire
from dpress.core.reports.pieces import on_threads
from dpress.data.reports import report_files as reading
from dpress.data.reports.report_batch import SCHEMA
from dpress.data.specification.spec import from_dict
from dpress.release.devices.estimate import estimate
from dpress.release.devices.perturb import perturb

JOINT = {"kind": "joint", "attributes": ["age", "sex"]}


def joint(method: str) -> Any:
    privacy = {"model": "local", "epsilon": 6.0}
    return from_dict({"attribute": [AGE, SEX], "privacy": privacy, "release": JOINT | {"method": method}})


@pytest.fixture
def reports(tmp_path):
    """Return the table of one file of reports, some of which are faulty or repeat others."""

    def make(own) -> pa.Table:
        path = tmp_path / "drawn.parquet"
        perturb(own, PEOPLE, out=path, rng=rng.seeded(5))
        rows = pq.read_table(path).to_pylist()
        path.unlink()
        other = [rows[1] | {"ask": bytes(16)}, rows[2] | {"id": None}, rows[3] | {"version": 1, "id": bytes(16)}]
        another = next(row for row in rows if row["payload"] != rows[480]["payload"]) | {"id": rows[480]["id"]}
        rows = [*rows[:200], *rows[40:60], *other, *rows[200:], another, rows[7]]
        return pa.Table.from_pylist(rows, schema=SCHEMA)

    return make


def split(table: pa.Table, folder: Path, *cuts: int, group: int = 90) -> Path:
    """Write a table as several files, in folders of folders, whose names are in the order of the rows."""
    for number, (start, end) in enumerate(zip((0, *cuts), (*cuts, len(table)), strict=True)):
        place = folder / f"day-{number // 2}"
        place.mkdir(parents=True, exist_ok=True)
        pq.write_table(table[start:end], place / f"{number}.parquet", row_group_size=group)
    (folder / "_SUCCESS").touch()
    (folder / ".part.crc").write_bytes(b"none")
    return folder


def answers(release) -> dict[str, Any]:
    return {name: table.to_pydict() for name, table in release.answers.all_tables.items()}


@pytest.mark.parametrize("own", [spec(method="krr"), spec(method="oue"), joint("rr_ldp"), joint("em"), joint("pairs")])
def test_a_folder_is_one_file(reports, tmp_path, own):
    table = reports(own)
    pq.write_table(table, tmp_path / "one.parquet")
    folder = split(table, tmp_path / "folder", 10, 150, 210, 211, 400)
    one, many = estimate(own, tmp_path / "one.parquet"), estimate(own, folder)
    assert many.users == one.users == 500
    assert dict(many.rejected) == dict(one.rejected)
    assert one.rejected == {wire.REPEATED: 22, wire.OTHER_ASK: 1, wire.MISSING: 1, wire.OTHER_VERSION: 1}
    assert answers(many) == answers(one)
    assert np.array_equal(many.kept, one.kept)
    by_pattern = estimate(own, str(tmp_path / "folder" / "day-*" / "*.parquet"))
    by_name = estimate(own, sorted((tmp_path / "folder").glob("*/*.parquet")))
    assert answers(by_pattern) == answers(by_name) == answers(one)


def test_ids_looked_for_in_every_file_alone_would_be_seen(reports, tmp_path, monkeypatch):
    """The planted fault: 6 of the 22 repetitions are within a file, and the others are not."""
    own = spec(method="krr")
    folder = split(reports(own), tmp_path / "folder", 205)
    assert estimate(own, folder).rejected[wire.REPEATED] == 22
    whole = reading.read

    def by_file(paths, expected, **more):
        each = [whole([path], expected, **more) for path in paths]
        return reading.ReportFiles(parts=tuple(piece for one in each for piece in one.parts), private=True)

    monkeypatch.setattr("dpress.release.devices.report_source.read", by_file)
    assert estimate(own, folder).rejected[wire.REPEATED] == 6


def test_the_order_of_files_decides_only_which_repetition_counts(reports, tmp_path):
    own = spec(method="krr")
    table = reports(own)
    folder = split(table, tmp_path / "folder", 150, 510)
    files = sorted(folder.glob("*/*.parquet"))
    one, other = estimate(own, files), estimate(own, files[::-1])
    assert one.users == other.users
    assert dict(one.rejected) == dict(other.rejected)
    assert not np.array_equal(one.kept, other.kept)  # one id stands in two files with another payload
    alike = table.filter(pa.array([at != len(table) - 2 for at in range(len(table))]))
    files = sorted(split(alike, tmp_path / "alike", 150, 510).glob("*/*.parquet"))
    assert np.array_equal(estimate(own, files).kept, estimate(own, files[::-1]).kept)


def test_one_seeded_file_marks_the_whole(reports, tmp_path):
    own = spec(method="krr")
    table = reports(own)
    folder = split(table, tmp_path / "folder", 150)
    assert estimate(own, folder).private
    perturb(own, PEOPLE, out=folder / "seeded.parquet", rng=rng.seeded(6))
    assert not estimate(own, folder).private


def elsewhere(kernel, items):
    """An engine of another process: kernels and pieces travel, run in another order, and come back in theirs."""
    travelled = [cloudpickle.dumps((kernel, item)) for item in items]
    results = {}
    for at in reversed(range(len(travelled))):
        own, item = cloudpickle.loads(travelled[at])
        results[at] = cloudpickle.loads(cloudpickle.dumps(own(item)))
    return iter([results[at] for at in range(len(travelled))])


@pytest.mark.parametrize("memory", [1 << 30, 0])
@pytest.mark.parametrize("method", ["rr_ldp", "em", "lremh"])
def test_every_engine_gives_the_same_release_to_the_bit(reports, tmp_path, monkeypatch, method, memory):
    monkeypatch.setattr(reading, "PIECE", 90)
    fold = functools.partial(estimating_fold(), memory=memory)
    monkeypatch.setattr("dpress.mechanisms.joint.bit_joint.bit_fold", fold)
    own = joint(method)
    folder = split(reports(own), tmp_path / "folder", 10, 150, 210, 211, 400)
    engines = [*(functools.partial(on_threads, threads=number) for number in (1, 2, 4)), elsewhere]
    first, *others = [estimate(own, folder, run=run) for run in engines]
    assert len(first.kept) > 20
    for other in others:
        assert np.array_equal(first.kept, other.kept)
        assert dict(first.rejected) == dict(other.rejected)


def estimating_fold():
    from dpress.mechanisms.joint.bit_fold import bit_fold  # before it is replaced

    return bit_fold


def test_collections_of_many_types_travel(reports, tmp_path):
    own = spec(method="rappor", split="users")
    folder = split(reports(own), tmp_path / "folder", 150)
    assert np.array_equal(estimate(own, folder).kept, estimate(own, folder, run=elsewhere).kept)


def test_a_file_that_changes_between_passes_is_seen(reports, tmp_path):
    own = joint("em")
    folder = split(reports(own), tmp_path / "folder", 150)
    calls = Counter()

    def run(kernel, items):
        calls["passes"] += 1
        if calls["passes"] == 4:
            (folder / "day-0" / "1.parquet").touch()
        return on_threads(kernel, items)

    with pytest.raises(OSError, match=r"day-0/1\.parquet changed or went away while it was read; nothing was released"):
        estimate(own, folder, out=tmp_path / "out", run=run)
    assert not (tmp_path / "out").exists()
    assert calls["passes"] >= 4


@pytest.mark.parametrize("cells", [1, 1 << 30])
def test_long_tallies_are_added_up_as_short_ones(reports, tmp_path, monkeypatch, cells):
    own = spec(method="oue", split="users")
    folder = split(reports(own), tmp_path / "folder", 150, 300)
    whole = estimate(own, folder)
    monkeypatch.setattr("dpress.release.devices.tallies.LARGEST_DENSE", cells)
    assert np.array_equal(estimate(own, folder).kept, whole.kept)


def test_progress_counts_every_report_of_every_pass(reports, tmp_path):
    own, seen = joint("em"), []
    table = reports(own)
    estimate(own, split(table, tmp_path / "folder", 150), progress=seen.append)
    assert len(table) in seen
    assert all(rows <= seen[-1] for rows in seen)
