"""What files of a release are called: by attributes, never twice, never as another file; stored ones as they were."""

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpress
from dpress.core.basics.taken_names import OTHERS
from dpress.query.all_groups import marked
from dpress.query.table_files import table_files

STORED = Path(__file__).parents[1] / "formats" / "stored"
ODD = ["measurement", "../up", "Größe (cm)", "grösse", "a b", "a_b", "A_B", "joint", "tree_1", "con", "=x", "x" * 300]


@given(st.lists(st.lists(st.text(min_size=1), min_size=1, max_size=3), max_size=20))
def test_no_two_tables_have_one_file_and_none_leaves_the_folder(tables: list[list[str]]) -> None:
    files = table_files(3, tables)
    assert len({file.casefold() for file in files}) == len(files) == len(tables)
    for file in files:
        stem = file.removesuffix(".parquet")
        assert Path(file).name == file
        assert stem.replace("-", "").replace("_", "").isalnum() or not stem.strip("-_")
        assert not OTHERS.fullmatch(stem.casefold())
        assert len(file.encode()) < 120


def listed(name: str) -> dict[str, object]:
    return {"name": name, "kind": "categorical", "values": ["secret value", "m"], "other": "rest"}


def test_a_release_of_odd_names_is_written_and_read_back(tmp_path: Path) -> None:
    tables = [[name] for name in ODD]
    spec = {"attribute": [listed(name) for name in ODD], "privacy": {"epsilon": 1}}
    spec |= {"release": {"kind": "marginals", "method": "marginals", "parameters": {"tables": tables}}}
    rows = pa.table({name: ["m", "secret value"] * 20 for name in ODD})
    release = dpress.publish(dpress.load_spec(spec), rows, out=tmp_path / "out", csv=True)
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert len(names) == 2 * len(ODD) + 2
    assert {"measurement-2.parquet", "a_b.csv", "a_b-2.csv", "A_B-3.csv", "_up.csv"} <= {*names}
    assert not any("secret" in name for name in names)
    again = dpress.load_release(tmp_path / "out")
    assert again.answers.tables == release.answers.tables
    assert [*again.answers.tables.values()] == [(name,) for name in ODD]


def test_a_table_that_was_asked_for_and_is_published_is_one_file(tmp_path: Path) -> None:
    spec = {"attribute": [listed("a"), listed("b")], "privacy": {"epsilon": 1}}
    parameters = {"tables": [["a"], ["a", "b"]]}
    spec |= {"release": {"kind": "marginals", "method": "identity", "parameters": parameters}}
    rows = pa.table({"a": ["m"] * 30, "b": ["m", "secret value", None] * 10})
    release = dpress.publish(dpress.load_spec(spec), rows, out=tmp_path / "out")
    assert release.answers.tables == {"a-b.parquet": ("a", "b")}
    assert release.answers.asked == {"a.parquet": ("a",)}
    assert [view.name for view in release.answers.asked_tables()] == ["a.parquet", "a-b.parquet"]
    assert dpress.load_release(tmp_path / "out").files == ("a-b.parquet", "a.parquet")


@pytest.mark.parametrize("name", ["marginals_words", "names", "map_krr", "local_krr"])
def test_a_stored_release_keeps_its_names_when_it_is_written_again(name: str, tmp_path: Path) -> None:
    stored = STORED / name / "release"
    release = dpress.load_release(stored)
    assert release.format == 2
    assert next(iter(release.answers.tables)) == "table_1.parquet"
    release.write(tmp_path / "again")
    before, after = (sorted(path.name for path in place.iterdir()) for place in (stored, tmp_path / "again"))
    assert before == after
    assert dpress.load_release(tmp_path / "again").answers.tables == release.answers.tables


@pytest.mark.parametrize(("values", "word"), [(["eyes", "heart"], "all"), (["all", "heart"], "all groups")])
def test_rows_of_all_groups_say_all_in_csv_and_nothing_in_parquet(values: list[str], word: str, tmp_path: Path) -> None:
    labels = {values[0]: "The eyes"}
    ward = {"name": "ward", "kind": "categorical", "values": values, "other": "reject", "labels": labels}
    cost = {"name": "cost", "kind": "integer", "bounds": [0, 9]}
    release = {"kind": "statistics", "parameters": {"by": ["ward"], "mean": ["cost"]}}
    spec = {"attribute": [ward, cost], "privacy": {"epsilon": 5}, "release": release}
    rows = pa.table({"ward": [values[0], values[1]] * 50, "cost": [*range(10)] * 10})
    dpress.publish(dpress.load_spec(spec), rows, out=tmp_path / "out", csv=True)
    with (tmp_path / "out" / "statistics.csv").open(newline="", encoding="utf-8") as file:
        written = [*csv.DictReader(file)]
    whole = pq.read_table(tmp_path / "out" / "statistics.parquet").to_pylist()
    named = dict.fromkeys((row["ward"], row["ward_label"]) for row in written)
    assert [*named] == [(word, word), (values[0], "The eyes"), ("heart", "heart")]
    assert [*dict.fromkeys(row["ward"] for row in whole)] == [None, *values]
    assert [float(row["value"]) for row in written] == [row["value"] for row in whole]


def test_only_columns_of_groups_say_what_a_null_means() -> None:
    plain = {"attribute": [listed("ward")], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}
    ward = dpress.load_spec(plain).schema.tabular
    schema = marked(pa.record_batch({"ward": ["m"], "statistic": ["mean"]}), ward).schema
    assert [field.metadata for field in schema] == [{b"null_means": b"all"}, None]
