"""Counts that are answered by adjusted counts: the value, the unbiased one beside, and the interval of both."""

import hashlib
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.kinds.conftest import AGE, REGION, SEX, make

import dpress
from dpress.core.basics import rng
from dpress.core.basics.errors import SchemaMismatch
from dpress.query import table_answers
from dpress.query.load import load_release

NOISY = {"epsilon": 0.05}


def test_a_count_is_the_sum_of_the_files_adjusted_counts(tmp_path):
    release = make("histogram", [AGE, REGION], NOISY)
    release.write(tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "age-region.parquet").to_pandas()
    again = load_release(tmp_path / "out")
    for query, rows in (
        ("region = North", table.region == "North"),
        ("region = North or age < 3", (table.region == "North") | (table.age.astype(int) < 3)),
        ("total", slice(None)),
    ):
        result = again.query(query)
        assert result.value == pytest.approx(table.adjusted[rows].sum())
        assert result.unbiased == pytest.approx(table["count"][rows].sum())
        assert max(0, result.interval[0]) <= result.value <= result.interval[1]
    assert table.adjusted.min() >= 0
    assert (table.low >= 0).all()
    assert ((table.low <= table.adjusted) & (table.adjusted <= table.high)).all()


def test_what_was_published_is_what_answers(tmp_path, monkeypatch):
    """Whatever adjusts counts better by then; and no program is compiled for a question."""
    release = make("marginals", [AGE, REGION, SEX], NOISY, method="marginals")
    release.write(tmp_path / "out")
    monkeypatch.setattr(table_answers, "adjust", lambda counts, *_, **__: counts + 1000)
    again = load_release(tmp_path / "out")
    for query in ("region = North", "region = North and age < 3", "total"):
        assert again.query(query) == release.query(query)
    assert replace(again, detail=None).query("total").value > again.query("total").value  # adjusted anew
    script = f"import sys, dpress; dpress.load_release({str(tmp_path / 'out')!r}).query('total'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"numba", "scipy"} & {*done.stdout.split()}


def test_a_file_without_its_counts_is_refused(tmp_path):
    make("histogram", [AGE, REGION], NOISY).write(tmp_path / "out")
    place, description = tmp_path / "out" / "age-region.parquet", tmp_path / "out" / "release.json"
    before = hashlib.sha256(place.read_bytes()).hexdigest()
    pq.write_table(pq.read_table(place).drop_columns("adjusted"), place)
    after = hashlib.sha256(place.read_bytes()).hexdigest()
    description.write_text(description.read_text().replace(before, after))
    with pytest.raises(SchemaMismatch, match=r"age-region.parquet is not the one of its design: expected .* counts"):
        load_release(tmp_path / "out")


def test_without_post_processing_the_value_is_unbiased():
    result = make("histogram", [AGE, REGION], NOISY, postprocess=[]).query("region = North")
    assert result.unbiased is None


def test_many_ranges_are_answered_as_one_by_one():
    release = make("ranges", [AGE], NOISY)
    table = release.answers.query_ranges([1, 4], [20, 9]).to_pylist()
    for row, query in zip(table, ("total", "age in 3..8"), strict=True):
        one = release.query(query)
        assert [row["count"], row["low"], row["high"], row["unbiased"]] == pytest.approx(
            [one.value, *one.interval, one.unbiased]
        )


def test_shares_and_differences_are_said_to_be_unbiased():
    release = make("histogram", [AGE, REGION])
    assert release.query("share region = North").note == "From the unbiased counts."
    assert release.query("mean age").note.endswith("From the unbiased counts.")
    assert release.query("region = North").note is None


@pytest.mark.parametrize(
    "changed",
    [
        {"attribute": [AGE, {**REGION, "name": "adjusted"}]},
        {"privacy": {"epsilon": 1, "model": "local"}, "release": {"kind": "marginals"}},
    ],
)
def test_what_cannot_be_adjusted_as_one_table_answers_unbiased(changed):
    plain = {"attribute": [AGE, REGION], "privacy": NOISY, "release": {"kind": "histogram"}, **changed}
    assert dpress.plan(dpress.load_spec(plain)).design.release["postprocess"] == []


def test_several_tables_agree_and_answer(tmp_path):
    release = make("marginals", [AGE, REGION, SEX], NOISY, method="marginals")
    assert release.design.release["postprocess"] == ["posterior", "consistent"]
    release.write(tmp_path / "out")
    tables = {names: table.to_pandas() for names, table in release.tables.items()}
    assert len(tables) == 3
    for name in ("region", "sex", "age"):
        sums = [table.groupby(name).adjusted.sum() for names, table in tables.items() if name in names]
        assert sums[0].to_numpy() == pytest.approx(sums[1].to_numpy())
        assert not np.allclose(sums[0].to_numpy(), tables["age", "region"]["count"].sum())
    for query in ("region = North", "region = North and age < 3", "total", "sex = Male or age = 1"):
        result = load_release(tmp_path / "out").query(query)
        assert result.value >= 0
        assert result.interval[0] <= result.value <= result.interval[1]
    north = tables["age", "region"][tables["age", "region"].region == "North"].adjusted.sum()
    assert release.query("region = North").value == pytest.approx(north)


def test_tables_that_need_not_agree_do_not_answer():
    release = make("marginals", [AGE, REGION, SEX], NOISY, method="marginals", postprocess=["posterior"])
    assert release.query("region = North").unbiased is None
    tables = [table.to_pandas() for table in release.tables.values()]
    sums = [table[table.region == "North"].adjusted.sum() for table in tables if "region" in table]
    assert sums[0] != pytest.approx(sums[1])


def test_what_makes_tables_agree_stands_last():
    plain = {"attribute": [AGE, REGION], "privacy": NOISY, "release": {"kind": "histogram"}}
    plain["release"]["postprocess"] = ["consistent", "integer"]
    with pytest.raises(ValueError, match="'consistent' adjusts all tables together and must be the last"):
        dpress.load_spec(plain)


@pytest.mark.slow
def test_intervals_hold_as_often_as_they_say():
    """False alarm below 1e-9 (binomial, 4,000 draws of .95); intervals of half the width are found out."""
    age, people = {"name": "age", "kind": "integer", "bounds": [0, 63]}, np.arange(64) % 9 == 0
    ages = np.repeat(np.arange(64), people * 40)
    spec = dpress.load_spec({"attribute": [age], "privacy": {"epsilon": 0.1}, "release": {"kind": "ranges"}})
    draws, held, narrow = np.random.default_rng(5), 0, 0  # noqa: TID251  # made-up counts
    for run in range(80):
        release = dpress.publish(spec, pa.table({"age": ages}), rng=rng.seeded(run))
        left = draws.integers(0, 64, 50)
        right = np.minimum(left + draws.integers(0, 40, 50), 63)
        table = release.answers.query_ranges(left + 1, right + 1)
        truth = np.array([((ages >= low) & (ages <= high)).sum() for low, high in zip(left, right, strict=True)])
        low, high = (table[name].to_numpy() for name in ("low", "high"))
        held += int(((low <= truth) & (truth <= high)).sum())
        middle = table["unbiased"].to_numpy()
        narrow += int((np.abs(truth - middle) <= table["standard_error"].to_numpy()).sum())
    assert held / 4000 > 0.92
    assert narrow / 4000 < 0.85
