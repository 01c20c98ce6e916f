"""What a release of a joint distribution keeps, and that it comes back as it was."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.kinds.joint.whole_numbers import people, spec

from dpress import load_release, plan
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.kinds.joint.answers import UNIT, _refitted
from dpress.release.devices.estimate import estimate
from dpress.release.devices.perturb import perturb
from dpress.release.truth.evaluate import evaluate

METHODS = ["pairs", "rr_ldp", "em", "lasso", "lremh", "subset_selection", "independent"]


@pytest.fixture
def collected(tmp_path):
    def run(own, rows, change=lambda table: table, **options):
        path = tmp_path / "r.parquet"
        perturb(own, rows, out=path, rng=rng.seeded(5))
        pq.write_table(change(pq.read_table(path)), path)
        return estimate(own, path, **options)

    return run


def test_pairs_of_the_baseline_are_compared_though_they_are_not_published(collected):
    release = collected(spec(2, 3, 4, method="independent"), people(2, 3, 4))
    assert [len(axes) for axes in release.mechanism.decoder.tables] == [1, 1, 1]
    found = evaluate(release, people(2, 3, 4))
    assert found["fitted_mean_total_variation"] == pytest.approx(found["independence_mean_total_variation"])
    assert found["fitted_mean_total_variation"] > 0.1  # these attributes depend on each other
    with pytest.raises(ValueError, match="the tables are a0, a1, a2"):
        release.query("a0 = 1 and a1 = 1")


def test_a_kept_fit_is_a_distribution():
    own = plan(spec(2, 3, method="rr_ldp")).chosen.mechanism
    tallies, shares = np.zeros(sum(own.sizes), dtype=np.int64), np.full(6, 1 / 6)

    def kept(values):
        return np.append(tallies, (values * UNIT).astype(np.int64))

    assert _refitted(own, kept(shares)).marginal((0, 1)).sum() == pytest.approx(1)
    for wrong in (shares * 1.00001, shares[:5], shares + np.array([0.5, -0.5, 0, 0, 0, 0]), shares[:0]):
        with pytest.raises(SchemaMismatch, match="no distribution"):
            _refitted(own, kept(wrong))


@pytest.mark.parametrize("method", METHODS)
def test_a_release_is_read_back_as_it_was(collected, tmp_path, method):
    release = collected(spec(2, 3, 4, method=method), people(2, 3, 4), out=tmp_path / "out", records=50)
    again = load_release(tmp_path / "out")
    for name, table in release.answers.all_tables.items():
        for column in ("count", "standard_error", "adjusted"):
            assert again.answers.all_tables[name][column].to_pylist() == pytest.approx(
                table[column].to_pylist(), abs=1e-9
            )
    assert pq.read_table(tmp_path / "out" / "records.parquet").num_rows == 50
    assert {"fitted_mean_total_variation", "independence_mean_total_variation"} <= set(evaluate(again, people(2, 3, 4)))
    manifest = tmp_path / "out" / "release.json"
    plain = json.loads(manifest.read_text())
    for name, value in (("users", 7), ("records", "x"), ("fit", 7), ("design", plain["design"] | {"split": "x"})):
        manifest.write_text(json.dumps(plain | {name: value}))
        with pytest.raises(SchemaMismatch, match=r"release\.json"):
            load_release(tmp_path / "out")


@pytest.mark.parametrize("method", METHODS)
def test_no_report_is_refused(collected, method):
    own = spec(2, 3, method=method)
    with pytest.raises(SchemaMismatch, match="there are no reports"):
        collected(own, people(2, 3), lambda table: table[:0])


@pytest.mark.parametrize("method", METHODS[:-1])  # one question; for several see tests/flow
def test_equal_reports_and_an_attribute_of_one_value(collected, method):
    def same(table):
        return table.set_column(5, "payload", pa.array([table["payload"][0].as_py()] * table.num_rows, pa.binary()))

    release = collected(spec(2, 1, 3, method=method, **({"ways": 3} if method == "pairs" else {})), people(2, 1, 3),
                        same)  # fmt: skip
    assert sum([*release.answers.all_tables.values()][1]["adjusted"].to_pylist()) == pytest.approx(400)


def test_records_need_a_joint_and_queries_a_table(collected):
    with pytest.raises(NotSupported, match='set kind = "joint"'):
        collected(spec(2, 3, kind="marginals"), people(2, 3), records=5)


def test_three_attributes_are_in_no_table_and_come_from_the_fit(collected):
    release = collected(spec(2, 3, 4), people(2, 3, 4))
    assert len(release.answers.all_tables) == 3
    assert release.query("a0 = 1 and a1 = 1").note is None
    assert "the fitted joint distribution" in release.query("a0 = 1 and a1 = 1 and a2 = 1").note


@pytest.mark.parametrize("method", ["em", "lasso", "lremh"])
def test_filters_in_place_of_one_hot_bits(collected, tmp_path, method):
    own = spec(2, 3, 4, method=method, reports="rappor", bits=24, privacy={"model": "local", "epsilon": 6.0})
    mechanism = plan(own).chosen.mechanism
    assert mechanism.claim.proven.epsilon <= 6
    assert mechanism.lifetime.epsilon > mechanism.claim.proven.epsilon
    release = collected(own, people(2, 3, 4), out=tmp_path / "out")
    again = load_release(tmp_path / "out")
    assert len(again.answers.all_tables) == 4
    for text in ("a0 = 1 and a1 in 0..1", "a0 = 1 and a1 = 1 and a2 = 1"):
        assert again.query(text) == release.query(text)
        assert release.query(text).standard_error > 0
    for name, table in release.answers.all_tables.items():
        assert again.answers.all_tables[name]["adjusted"].to_pylist() == pytest.approx(
            table["adjusted"].to_pylist(), abs=1e-9
        )


def test_every_set_of_up_to_five_attributes_is_published(collected):
    release = collected(spec(2, 2, 3, 2, 2, method="rr_ldp"), people(2, 2, 3, 2, 2))
    tables = release.mechanism.decoder.tables
    assert len(tables) == len(set(tables)) == 26
    whole = release.query("a0 = 1 and a1 = 1 and a2 in 0..1 and a3 = 0 and a4 = 1")
    assert whole.value == pytest.approx(sum(release.query(f"a0 = 1 and a1 = 1 and a2 = {v} and a3 = 0 and a4 = 1").value
                                            for v in (0, 1)))  # fmt: skip
    assert release.query("a0 = 1 and a1 = 1").standard_error < whole.standard_error
