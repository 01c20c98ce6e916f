"""Arrow files, streams and Feather are read batch by batch; a damaged one is refused and never ends the process."""

import subprocess
import sys

import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pytest

from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources.open_source import open_source
from dpress.data.table import Table

ROWS = pa.table(
    {
        "age": pa.array([1, 2, None, 4] * 50),
        "name": pa.array(["a", "bb", None, "dddd"] * 50),
        "place": pa.array(["x", "y", "x", None] * 50).dictionary_encode(),
        "view": pa.array(["a", "b" * 20, None, "c"] * 50, pa.string_view()),
    }
)


def written(path, table=ROWS, *, stream=False, compression=None, rows=30):
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with make(path, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table, max_chunksize=rows)
    return path


def read(data, *columns):
    batches = list(Table(data, columns, ROW).batches())
    return [row for batch in batches for row in zip(*batch.to_pydict().values(), strict=True)]


def rows(*columns):
    return list(zip(*ROWS.select(columns).to_pydict().values(), strict=True))


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("name", ["rows.arrow", "rows.ipc", "rows.arrows", "rows.feather"])
def test_files_and_streams_are_read_whatever_their_ending(tmp_path, name, compression):
    for stream in (False, True):
        path = written(tmp_path / name, stream=stream, compression=compression)
        assert read(path, "name", "age") == rows("name", "age")
        assert read(path, "view", "place") == rows("view", "place")


def test_a_feather_file_is_one_and_its_first_version_is_refused(tmp_path):
    pyarrow.feather.write_feather(ROWS, tmp_path / "rows.feather")
    assert read(tmp_path / "rows.feather", "age") == rows("age")
    (tmp_path / "old.feather").write_bytes(b"FEA1" + bytes(100))
    with pytest.raises(SchemaMismatch, match=r"old.feather is a Feather file of version 1; write it as version 2"):
        read(tmp_path / "old.feather", "age")


def test_record_batches_are_parts_and_a_large_one_is_cut(tmp_path):
    source = open_source(written(tmp_path / "rows.arrow")).source
    assert [part.numbers for part in source.parts(["age"])] == [range(one, one + 1) for one in range(7)]
    large = pa.table({"age": range(300_000)})
    source = open_source(written(tmp_path / "large.arrow", large, rows=300_000)).source
    assert [batch.num_rows for part in source.parts(["age"]) for batch in part.batches()] == [131072, 131072, 37856]
    many = open_source(written(tmp_path / "many.arrow", pa.table({"age": range(1000)}), rows=1)).source
    assert len(many.parts(["age"])) <= 256
    assert read(tmp_path / "many.arrow", "age") == [(one,) for one in range(1000)]


def test_folders_have_one_schema(tmp_path):
    written(tmp_path / "a.arrow")
    written(tmp_path / "b.arrow", stream=True)
    assert len(read(tmp_path, "age")) == 400
    written(tmp_path / "c.arrow", ROWS.rename_columns(["Age", "name", "place", "view"]))
    with pytest.raises(SchemaMismatch, match=r"c.arrow has another schema than .*a.arrow"):
        read(tmp_path, "age")


@pytest.mark.parametrize("stream", [False, True])
def test_a_file_that_is_cut_short_anywhere_is_refused(tmp_path, stream):
    whole = written(tmp_path / "whole.arrow", stream=stream).read_bytes()
    path = tmp_path / "rows.arrow"
    for end in range(1, len(whole), 97):
        path.write_bytes(whole[:end])
        with pytest.raises(OSError, match=r"rows.arrow cannot be read as an Arrow file"):
            read(path, "age", "name")
    path.write_bytes(b"x" * 1000)
    with pytest.raises(OSError, match=r"rows.arrow cannot be read as an Arrow file"):
        read(path, "age")


DAMAGED = """
import sys
from pathlib import Path
import pyarrow as pa
from dpress.core.basics.claim import ROW
from dpress.attributes.domain import Schema
from dpress.attributes.numbers.attribute import Integer
from dpress.attributes.listed.attribute import Categorical
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.rng import seeded
from dpress.data.codec.codec import encode
from dpress.data.sources.arrow_rows import ArrowRows
import dpress.data.sources.arrow_rows as module
path, count, checked = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "checked"
if not checked:
    module._valid = lambda batch: batch
texts = [Categorical(name=name, values=("a", "x"), other="o") for name in ("name", "place", "view")]
schema = Schema((Integer(name="age", bounds=(0, 9), null="none"), *texts))
base, rng = bytearray(path.read_bytes()), seeded(count)
read = refused = 0
for number in range(count):
    own = bytearray(base)
    words = rng.words(7)
    for place, value in zip(words[:1], words[3:]):
        own[int(place) % len(own)] = int(value) % 256
    if words[6] % 5 == 0:
        own = own[: int(words[5]) % len(own)]
    path.write_bytes(own)
    try:
        for part in ArrowRows((path,), "it").parts(schema.names):
            for batch in part.batches():
                encode(schema, batch)
        read += 1
    except (OSError, SchemaMismatch):
        refused += 1
print(read, refused)
"""


def damaged(path, count, checked="checked"):
    arguments = [sys.executable, "-c", DAMAGED, str(path), str(count), checked]
    return subprocess.run(arguments, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("count", [200, pytest.param(800, marks=pytest.mark.long)])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("compression", [None, "lz4"])
def test_damaged_files_never_end_the_process(tmp_path, count, stream, compression):
    done = damaged(written(tmp_path / "rows.arrow", stream=stream, compression=compression), count)
    assert done.returncode == 0, done.stderr[-500:]
    read, refused = map(int, done.stdout.split())
    assert read + refused == count
    assert min(read, refused) > 0


@pytest.mark.long
@pytest.mark.slow
def test_without_the_check_of_batches_one_of_half_as_many_ends_it(tmp_path):
    assert damaged(written(tmp_path / "rows.arrow"), 400, "unchecked").returncode < 0
