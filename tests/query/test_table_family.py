"""More tables than one opens one by one: a file for all of equally many attributes, read back as it was published."""

import hashlib
import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpress
from dpress.core.basics import rng
from dpress.core.basics.errors import SchemaMismatch
from dpress.query import published_tables, table_family
from dpress.query import table_files as files
from dpress.query.published_tables import PublishedTable
from dpress.query.release import Release

NAMES = [f"c{number}" for number in range(5)]
ROWS = pa.table(
    {name: [(row * (place + 3)) % (2 + place % 4) for row in range(300)] for place, name in enumerate(NAMES)}
)


def attribute(place: int) -> dict[str, object]:
    return {"name": NAMES[place], "title": f"Title {place}", "kind": "integer", "bounds": [0, 1 + place % 4]}


def wide(**options: object) -> dpress.Spec:
    attributes = [attribute(place) for place in range(len(NAMES))]
    return dpress.load_spec(
        {"attribute": attributes, "privacy": {"rho": 0.5}, "release": {"kind": "marginals", **options}}
    )


@pytest.fixture(scope="module", autouse=True)
def few() -> Iterator[None]:
    """Let three tables be too many for a file each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "MOST_FILES", 3)
        yield


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Release, Path]:
    """A release of all single attributes and all pairs, and its folder."""
    folder = tmp_path_factory.mktemp("wide") / "out"
    tables = [*([name] for name in NAMES), *map(list, itertools.combinations(NAMES, 2))]
    release = dpress.publish(wide(parameters={"tables": tables}), ROWS, rng=rng.seeded(1), out=folder, csv=True)
    return release, folder


def test_tables_share_files_from_a_number_on() -> None:
    pairs = list(itertools.combinations("abcd", 2))
    assert files.table_files(3, pairs[:3]) == ("a-b.parquet", "a-c.parquet", "a-d.parquet")
    assert {*files.table_files(3, [("a",), *pairs[:3]])} == {"tables_of_1.parquet", "tables_of_2.parquet"}
    assert files.table_files(3, [("tables_of_2",)]) == ("tables_of_2-2.parquet",)
    assert files.held("tables_of_2-2.parquet", ["tables_of_2"]) == "tables_of_2"
    assert len({*files.table_files(2, pairs)}) == len(pairs)  # as earlier versions wrote them


def test_every_cell_of_every_table_is_a_row(published: tuple[Release, Path]) -> None:
    release, folder = published
    names = {path.name for path in folder.iterdir()}
    assert names == {
        *("measurement.parquet", "release.json", "tables_of_1.parquet", "tables_of_1.csv"),
        *("tables_of_2.parquet", "tables_of_2.csv"),
    }
    rows = pq.read_table(folder / "tables_of_2.parquet").to_pandas()
    assert [*rows.columns[:4]] == ["attribute_1", "value_1", "attribute_2", "value_2"]
    for first, second in (("c0", "c1"), ("c1", "c4"), ("c3", "c4")):
        table = release.tables[first, second].to_pandas()
        shared = rows[(rows.attribute_1 == first) & (rows.attribute_2 == second)]
        assert shared.value_1.tolist() == table[first].tolist()
        assert shared.value_2.tolist() == table[second].tolist()
        for column in ("count", "standard_error", "low", "high", *(c for c in ["adjusted"] if c in table)):
            assert shared[column].tolist() == table[column].tolist()
    assert len(rows) == sum(part.count.size for part in release.answers.published() if len(part.axes) == 2)


def test_it_is_read_back_and_answers_alike(published: tuple[Release, Path]) -> None:
    release, folder = published
    again = dpress.load_release(folder)
    assert again.answers.tables == {"tables_of_1.parquet": tuple(NAMES), "tables_of_2.parquet": tuple(NAMES)}
    for query in ("c1 = 2", "c3 = 1 and c4 = 0", "mean c3 where c2 = 1"):
        assert again.query(query) == release.query(query)
    assert "tables of 2 of 5 attributes" in again._repr_html_()


def test_adjusted_counts_of_a_shared_file_answer(tmp_path: Path) -> None:
    spec = wide(postprocess=["posterior", "consistent"])
    release = dpress.publish(spec, ROWS, rng=rng.seeded(2), out=tmp_path / "out")
    rows = pq.read_table(tmp_path / "out" / "tables_of_2.parquet").to_pandas()
    again = dpress.load_release(tmp_path / "out")
    pair = rows[(rows.attribute_1 == "c3") & (rows.attribute_2 == "c4")]
    expected = pair.adjusted[(pair.value_1 == "1") & (pair.value_2 == "0")].sum()
    assert again.query("c3 = 1 and c4 = 0").value == pytest.approx(expected)
    assert again.query("c3 = 1 and c4 = 0") == release.query("c3 = 1 and c4 = 0")
    place, description = tmp_path / "out" / "tables_of_2.parquet", tmp_path / "out" / "release.json"
    before = hashlib.sha256(place.read_bytes()).hexdigest()
    pq.write_table(pq.read_table(place).slice(1), place)
    description.write_text(description.read_text().replace(before, hashlib.sha256(place.read_bytes()).hexdigest()))
    assert json.loads(description.read_text())["sha256"][place.name] != before
    with pytest.raises(SchemaMismatch, match=r"expected [\d,]+ counts in `adjusted`"):
        dpress.load_release(tmp_path / "out")


def test_a_copy_for_people_has_titles_as_values(tmp_path: Path) -> None:
    release = dpress.publish(wide(), ROWS, rng=rng.seeded(3), out=tmp_path / "out", csv=True, titles=True)
    lines = (tmp_path / "out" / "tables_of_2.csv").read_text().replace('"', "").splitlines()
    assert lines[1].startswith("Title 0,0,Title 1,0,")
    assert len(lines) == 1 + sum(table.count.size for table in release.answers.published())


def test_batches_are_of_whole_tables_and_hold_all_of_them(
    published: tuple[Release, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    release, folder = published
    monkeypatch.setattr(table_family, "BATCH_CELLS", 40)

    def pairs() -> list[PublishedTable]:
        return [table for table in release.answers.published() if len(table.axes) == 2]

    batches = [*table_family.TableFamily(name="x.parquet", tables=pairs).batches()]
    assert len(batches) > 2
    assert min(batch.num_rows for batch in batches[:-1]) >= 40
    whole = pq.read_table(folder / "tables_of_2.parquet")
    assert pa.Table.from_batches(batches).equals(whole)
    assert published_tables.BATCH_CELLS == 1 << 20
    assert np.all(np.asarray(whole["low"]) <= np.asarray(whole["high"]))
