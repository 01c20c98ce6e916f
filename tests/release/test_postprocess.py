"""Releases with post-processing: the unbiased columns and queries are as without it."""

import json

import msgspec
import numpy as np
import pyarrow.parquet as pq
import pytest

from dpress import SchemaMismatch, load_release, publish
from dpress.core.basics import rng as generators
from dpress.inference.postprocess import NAMES, adjust
from dpress.release.devices.estimate import estimate
from dpress.release.devices.perturb import perturb
from dpress.release.plan.plan import plan
from dpress.release.truth.evaluate import evaluate


def published(make_spec, rows, names, **options):
    spec = make_spec("ranges", ["age"], {"epsilon": 0.02}, method="boost", postprocess=names)
    return publish(spec, rows, rng=generators.seeded(3), **options)


@pytest.mark.parametrize("names", [["nonnegative"], ["integer", "nonnegative"], ["monotone_prefix", "integer"]])
def test_the_adjusted_counts_stand_beside_the_unbiased_and_queries_never_use_them(make_spec, rows, tmp_path, names):
    release = published(make_spec, rows, names, out=tmp_path / "release")
    plain = published(make_spec, rows, [])
    table, expected = release.answers.all_tables["age.parquet"], plain.answers.all_tables["age.parquet"]
    assert table.column_names == [*expected.column_names, "adjusted"]
    assert table.drop_columns("adjusted").equals(expected)
    counts = expected["count"].to_numpy()
    assert np.array_equal(table["adjusted"].to_numpy(), adjust(counts, names))
    assert not np.array_equal(table["adjusted"].to_numpy(), counts)
    assert pq.read_table(tmp_path / "release" / "age.parquet").equals(table)
    again = load_release(tmp_path / "release")
    for text in ("total", "age in 2..7", "age = 3"):
        assert release.query(text) == plain.query(text) == again.query(text)
    assert again.answers.all_tables["age.parquet"].equals(table)


def test_every_table_is_adjusted_by_itself(make_spec, rows):
    release = publish(make_spec(privacy={"epsilon": 0.05}, method="marginals", postprocess=["nonnegative"]), rows)
    assert len(release.answers.all_tables) == 3
    for table in release.answers.all_tables.values():
        counts, adjusted = table["count"].to_numpy(), table["adjusted"].to_numpy()
        assert adjusted.min() >= 0
        assert adjusted.sum() == pytest.approx(max(0, counts.sum()))


def test_the_manifest_names_what_was_done_and_how_it_is_biased(make_spec, rows):
    names = ["nonnegative", "integer"]
    said = published(make_spec, rows, names).manifest()
    assert said["postprocess"] == [{"name": name, "bias": NAMES[name].bias} for name in names]
    assert said["design"]["release"]["postprocess"] == names
    assert said["design"]["specification"]["release"]["postprocess"] == names
    assert "postprocess" not in published(make_spec, rows, []).manifest()


@pytest.mark.parametrize("name", [name for name, named in NAMES.items() if named.local])
def test_a_table_has_no_public_number_of_users(make_spec, name):
    with pytest.raises(
        SchemaMismatch, match=rf'postprocess\[#2\]: {name} needs model = "local".*`nonnegative`'
    ) as caught:
        make_spec("histogram", ["sex"], postprocess=["integer", name])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("names", [["norm_sub"], ["base_cut"], ["base_cut", "simplex", "integer"]])
def test_a_collection_is_adjusted_with_its_users_and_errors(make_spec, rows, tmp_path, names):
    local = {"model": "local", "epsilon": 1.0}
    spec = make_spec("marginals", ["age", "sex"], local, postprocess=names)
    perturb(spec, rows, out=tmp_path / "reports.parquet", rng=generators.seeded(3))
    release = estimate(spec, tmp_path / "reports.parquet", out=tmp_path / "release")
    for table in load_release(tmp_path / "release").answers.all_tables.values():
        counts, deviations = table["count"].to_numpy(), table["standard_error"].to_numpy()
        adjusted = table["adjusted"].to_numpy()
        assert np.array_equal(adjusted, adjust(counts, names, users=500, deviations=deviations))
        assert adjusted.min() >= 0
        assert names == ["base_cut"] or adjusted.sum() == pytest.approx(500)
    errors = evaluate(release, rows)
    assert errors["adjusted_cell_root_mean_squared_error"] != errors["cell_root_mean_squared_error"]


@pytest.mark.parametrize(
    ("edit", "fits"),
    [
        (lambda plain: plain.pop("postprocess"), False),
        (lambda plain: plain["postprocess"].reverse(), False),
        (lambda plain: plain["postprocess"].pop(), False),
        (lambda plain: plain["postprocess"][0].update(name="round"), False),
        (lambda plain: plain.update(postprocess=["nonnegative", "integer"]), False),
        (lambda plain: plain["design"]["release"].update(postprocess=["round"]), False),
        (lambda plain: plain["design"]["release"].pop("postprocess"), False),
        (lambda plain: plain["design"]["specification"]["release"].pop("postprocess"), False),
        (lambda plain: plain["postprocess"][0].update(bias="Worded otherwise by another version."), True),
    ],
)
def test_loading_checks_the_names_but_not_the_words(make_spec, rows, tmp_path, edit, fits):
    published(make_spec, rows, ["nonnegative", "integer"], out=tmp_path / "release")
    path = tmp_path / "release" / "release.json"
    plain = json.loads(path.read_text())
    edit(plain)
    path.write_text(json.dumps(plain))
    if fits:
        assert load_release(tmp_path / "release").answers.postprocess == ("nonnegative", "integer")
    else:
        with pytest.raises(SchemaMismatch, match=r"postprocess|differs from its hash|is truncated or was edited"):
            load_release(tmp_path / "release")


def test_names_where_the_spec_has_none_are_refused(make_spec, rows, tmp_path):
    published(make_spec, rows, [], out=tmp_path / "release")
    path = tmp_path / "release" / "release.json"
    plain = json.loads(path.read_text())
    path.write_text(json.dumps({**plain, "postprocess": [{"name": "integer", "bias": ""}]}))
    with pytest.raises(SchemaMismatch, match="`postprocess` is not the one"):
        load_release(tmp_path / "release")


def test_an_attribute_may_be_called_adjusted_only_where_no_column_is(make_spec):
    spec = make_spec("histogram", ["sex"])
    (sex,) = spec.schema.attributes
    renamed = msgspec.structs.replace(sex, name="adjusted")
    release = msgspec.structs.replace(spec.release, attributes=None)
    named = msgspec.structs.replace(spec, attribute=(renamed,), release=release)
    assert plan(named).chosen
    release = msgspec.structs.replace(release, postprocess=("integer",))
    with pytest.raises(ValueError, match="two columns 'adjusted'"):
        plan(msgspec.structs.replace(named, release=release))
