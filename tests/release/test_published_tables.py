import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpress import load_release, publish
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.numbers.attribute import Integer, Numeric
from dpress.query import folder
from dpress.query import published_tables as tables
from dpress.query.published_tables import PublishedTable

AXES = (
    Integer(name="age", bounds=(3, 9), null="none"),
    Categorical(name="sex", values=("F", "M"), other="else"),
    Integer(name="group", bounds=(0, 10), bins=4),
    Numeric(name="size", bounds=(0.0, 1.0), bins=5, null="unknown"),
)


def made(axes, *, adjusted=True):
    cells = int(np.prod([axis.size for axis in axes]))
    count = np.arange(cells) - 3.5
    variance = 1.0 + np.arange(cells) % 3
    return PublishedTable(
        name="x", axes=axes, count=count, variance=variance, adjusted=count + 1 if adjusted else None, tail="laplace"
    )


@pytest.mark.parametrize("axes", [AXES[:1], AXES[3:], AXES[1::-1], AXES, AXES[1:]])
@pytest.mark.parametrize("batch", [1, 5, 1000])
def test_a_table_does_not_depend_on_its_batches(monkeypatch, axes, batch):
    whole = made(axes).table()
    monkeypatch.setattr(tables, "BATCH_CELLS", batch)
    assert max(part.num_rows for part in made(axes).batches()) <= batch
    assert made(axes).table().equals(whole)
    places = np.unravel_index(np.arange(whole.num_rows), made(axes).shape)
    for axis, codes in zip(axes, places, strict=True):
        assert whole[axis.name].to_pylist() == [axis.labels[code] for code in codes]
        if axis.ordered and axis.name != "sex":
            edges = [*axis.edges.tolist(), None, None]
            beside = [code >= axis.ordered for code in codes]
            for name, after in (("from", 0), ("below", 1)):
                expected = [None if out else edges[code + after] for code, out in zip(codes, beside, strict=True)]
                assert whole[f"{axis.name}_{name}"].to_pylist() == expected


def test_columns_keep_their_types():
    schema = made(AXES[2:], adjusted=False).table().schema
    assert schema.field("group").type == pa.string()
    assert schema.field("group_from").type == pa.int64()
    assert schema.field("size_below").type == pa.float64()
    assert schema.names[-4:] == ["count", "standard_error", "low", "high"]


def test_tables_are_written_in_row_groups_and_read_back(monkeypatch, make_spec, rows, tmp_path):
    for module in (tables, folder):
        monkeypatch.setattr(module, "BATCH_CELLS", 4)
    seen = []
    release = publish(make_spec("histogram", ["age"]), rows)
    release.write(tmp_path / "release", progress=seen.append)
    assert seen == [4, 8, 10]
    file = pq.ParquetFile(tmp_path / "release" / "age.parquet")
    assert [file.metadata.row_group(group).num_rows for group in range(3)] == [4, 4, 2]
    assert file.read().equals(release.answers.all_tables["age.parquet"])
    assert load_release(tmp_path / "release").query("age = 3") == release.query("age = 3")
