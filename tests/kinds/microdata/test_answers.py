"""Records that are released: what is refused before a charge, and what comes back."""

import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.kinds.microdata.people import ATTRIBUTES, spec, table

from dpress import Ledger, load_release, publish
from dpress.core.basics import plain as plains
from dpress.core.basics import rng as generators
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.core.basics.losses.pure import PureDP
from dpress.core.methods.people import in_memory
from dpress.data import rows as data_rows
from dpress.data.codec.codec import encode
from dpress.data.table import Table
from dpress.kinds.microdata.answers import NOTE, UNPROVEN, Answers, coded
from dpress.mechanisms.microdata.dp_prototypes import DpPrototypes
from dpress.query.record_files import values
from dpress.release.truth.evaluate import evaluate

MADE = {
    "dp_prototypes": {"clusters": 3, "rounds": 1},
    "graphical": {},
    "per_record": {"users": 300},
    "insensitive_microaggregation": {"users": 300, "group": 100},
    "dp_k_prototypes": {"clusters": 3},
    "mdav": {"group": 5},
}
UNPROVEN_ONES = ("dp_k_prototypes", "mdav")


@pytest.fixture(scope="module", params=sorted(MADE))
def released(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("records") / "out"
    own = publish(spec(request.param, **MADE[request.param]), table(), out=folder, allow_unproven=True)
    return own, folder


def test_every_method_comes_back_as_it_was_published(released):
    own, folder = released
    back = load_release(folder)
    assert isinstance(back.answers, Answers)
    assert back.answers.made.table.equals(own.answers.made.table)
    assert np.array_equal(back.kept, own.kept)
    assert back.claim == own.claim
    assert plains.plain(back.answers.maker.parameters) == plains.plain(own.answers.maker.parameters)
    assert back.answers.made.aligned is (own.method in UNPROVEN_ONES)
    assert (back.claim.proven is None) is (own.method in UNPROVEN_ONES)
    assert pq.read_table(folder / "records.parquet").column_names == ["age", "size", "sex"]
    manifest = json.loads((folder / "release.json").read_text())
    assert (
        sum(rows for rows, _ in manifest["measured"])
        == own.kept.size
        == pq.read_table(folder / "measurement.parquet").num_rows
    )
    assert own.kept.dtype == np.int64


def test_a_query_counts_the_records_that_match_and_knows_no_error(released):
    own, _ = released
    ages, sexes = (own.answers.made.table.column(name).to_pylist() for name in ("age", "sex"))
    found = own.query("age in 3..6 and sex = F")
    assert found.value == sum(3 <= age <= 6 and sex == "F" for age, sex in zip(ages, sexes, strict=True))
    assert math.isnan(found.standard_error)
    assert found.note.startswith(NOTE)
    assert (UNPROVEN in found.note) is (own.claim.proven is None)
    assert own.query("sex = x").value == sum(sex in "FM" for sex in sexes)
    assert own.query("total").value == own.answers.made.table.num_rows
    with pytest.raises(ValueError, match="cannot read"):
        own.query("weight = 3")


def test_published_methods_keep_the_order_of_the_rows_and_proven_ones_do_not(released):
    own, _ = released
    if own.answers.made.aligned:
        rows = encode(own.schema, table().to_batches()[0])
        assert own.answers.made.table.num_rows == 300
        # the category of its cluster, in its place; 0.36 +- 0.03 by chance, 0.6 or more also where two categories merge
        assert (own.answers.codes[2] == rows[2]).mean() > 0.5
    metrics = evaluate(own, table())
    assert metrics["rows"] == 300
    assert 0 <= metrics["record_linkage_percent"] <= 100
    assert 0 <= metrics["one_way_total_variation"] <= 1
    assert 0 <= metrics["two_way_total_variation"] <= 1


@pytest.mark.parametrize(
    ("rows", "method", "message"),
    [
        (table().set_column(0, "age", pa.nulls(300, pa.int64())), "dp_prototypes", "attribute age: a value is missing"),
        (table().drop_columns(["sex"]), "dp_prototypes", "has no column 'sex'"),
        (table(0), "dp_prototypes", "has no rows"),
        (table(2), "dp_k_prototypes", "the table has fewer than 3 rows"),
    ],
)
def test_rows_that_do_not_fit_are_refused_before_anything_is_charged(rows, method, message, tmp_path):
    ledger = Ledger.create(tmp_path / "ledger.db", limit=PureDP(epsilon=10), unit=spec().privacy.protected)
    with pytest.raises((SchemaMismatch, NotSupported), match=message):
        publish(spec(method, clusters=3), rows, ledger=ledger, allow_unproven=True)
    assert ledger.summary().entries == ()


def test_what_fails_after_the_charge_says_that_it_stands(tmp_path, monkeypatch):
    def broken(_self, _people, *, rng):
        del rng
        raise OSError("rows.parquet changed while it was read")

    monkeypatch.setattr(DpPrototypes, "release", broken)
    ledger = Ledger.create(tmp_path / "ledger.db", limit=PureDP(epsilon=10), unit=spec().privacy.protected)
    with pytest.raises(OSError, match=r"changed while it was read; .* the charge of epsilon = 1 stands"):
        publish(spec("dp_prototypes", clusters=3), table(), ledger=ledger)
    assert [one.confirmed for one in ledger.summary().entries] == [False]


def test_one_value_and_a_cell_for_missing_ones_are_no_trouble():
    only = {"name": "only", "kind": "categorical", "values": ["a"]}
    gaps = {"name": "gaps", "kind": "categorical", "values": ["a", "b"], "null": "none"}
    rows = table().append_column("only", pa.array(["a"] * 300)).append_column("gaps", pa.nulls(300, pa.string()))
    own = publish(spec("dp_prototypes", {"epsilon": 50.0}, [*ATTRIBUTES, only, gaps], clusters=2), rows)
    assert set(own.answers.made.table.column("only").to_pylist()) == {"a"}
    gone = own.query("gaps = none").value
    assert gone > 250


def test_values_come_back_to_the_cells_they_were_drawn_from():
    axes = spec().schema.tabular
    codes = np.stack([np.arange(300) % axis.size for axis in axes]).astype(np.int32)
    drawn = pa.table(values(axes, codes, rng=generators.seeded(1)))
    assert np.array_equal(coded(axes, drawn), codes)
    assert pa.types.is_integer(drawn.schema.field("age").type)
    with pytest.raises(SchemaMismatch, match="no value of it"):
        coded(axes, drawn.set_column(2, "sex", pa.array(["Z"] * 300)))


def test_an_edited_folder_is_refused(tmp_path):
    publish(spec("dp_prototypes", clusters=3), table(), out=tmp_path / "out")
    path = tmp_path / "out" / "release.json"
    whole = path.read_text()
    for old, new in (
        ('"clusters": 3', '"clusters": 4'),
        ('"aligned": false', '"aligned": 1'),
        ('"records": ', '"records": 1'),
    ):
        path.write_text(whole.replace(old, new))
        with pytest.raises(SchemaMismatch, match=r"release.json"):
            load_release(tmp_path / "out")
    plain = json.loads(whole)
    for edited in (
        plain | {"parameters": plain["parameters"] | {"clusters": 4}},
        plain | {"measured": plain["measured"][1:]},
        plain | {"records": plain["records"] + 1},
    ):
        path.write_text(json.dumps(edited))
        with pytest.raises(SchemaMismatch, match=r"release.json"):
            load_release(tmp_path / "out")
    path.write_text(whole)
    assert load_release(tmp_path / "out").answers.made.table.num_rows
    pq.write_table(table(), tmp_path / "out" / "records.parquet")
    with pytest.raises(SchemaMismatch, match="differs from its checksum"):
        load_release(tmp_path / "out")


def test_a_seeded_release_repeats_its_records_and_claims_nothing():
    own, other = (publish(spec(clusters=3), table(), rng=generators.seeded(5)) for _ in range(2))
    assert own.answers.made.table.equals(other.answers.made.table)
    assert not own.private
    assert own.claim.proven is None
    assert not publish(spec(clusters=3), table()).answers.made.table.equals(own.answers.made.table)


def test_a_table_too_large_to_hold_is_read_again_for_every_sum():
    rows = Table(table(), ("age", "size", "sex"), spec().privacy.protected)
    held = data_rows.people(rows, spec().schema)
    read = data_rows.people(rows, spec().schema, held=0)

    def kernel(codes):
        return np.bincount(codes[0], minlength=10).astype(np.int64)

    assert np.array_equal(held.fold(kernel), read.fold(kernel))
    assert np.array_equal(np.sort(held.table(), axis=1), np.sort(read.table(), axis=1))
    assert held.fold(kernel).sum() == 300
    assert type(held) is type(in_memory(np.zeros((1, 1), dtype=np.int32)))
