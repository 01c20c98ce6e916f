"""Records that are released: which method makes them, what is refused before a charge, and what comes back."""

import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpress import Ledger, load_release, publish
from dpress.core import rng as generators
from dpress.core.claim import ZCDP, PureDP
from dpress.core.errors import NotSupported, SchemaMismatch
from dpress.core.people import in_memory
from dpress.data import rows as data_rows
from dpress.data.codec import encode
from dpress.data.spec import from_dict
from dpress.data.table import Table
from dpress.kinds.microdata.answers import NOTE, UNPROVEN, MicrodataRelease, coded
from dpress.kinds.microdata.linkage import linked, nearest
from dpress.mechanisms.microdata.dp_prototypes import DpPrototypes
from dpress.release.evaluate import evaluate
from dpress.release.plan import plan
from dpress.release.record_files import values

TREE = [["F", "x", "*"], ["M", "x", "*"], ["N", "y", "*"]]
ATTRIBUTES = [
    {"name": "age", "kind": "integer", "bounds": [0, 9]},
    {"name": "size", "kind": "numeric", "bounds": [0.0, 8.0], "bins": 4},
    {"name": "sex", "kind": "categorical", "values": ["F", "M", "N"], "hierarchy": TREE},
]
MADE = {
    "dp_prototypes": {"clusters": 3, "rounds": 1},
    "graphical": {},
    "per_record": {"users": 300},
    "insensitive_microaggregation": {"users": 300, "group": 100},
    "dp_k_prototypes": {"clusters": 3},
    "mdav": {"group": 5},
}
UNPROVEN_ONES = ("dp_k_prototypes", "mdav")


def spec(method="auto", privacy=None, attributes=ATTRIBUTES, **parameters):
    release = {"kind": "microdata", "method": method, "parameters": parameters}
    return from_dict({"attribute": attributes, "privacy": privacy or {"epsilon": 1.0}, "release": release})


def table(count=300):
    i = range(count)
    ages = [k * 7 % 10 for k in i]
    return pa.table({"age": ages, "size": [a * 0.8 for a in ages], "sex": ["FMN"[a // 4] for a in ages]})


@pytest.fixture(scope="module", params=sorted(MADE))
def released(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("records") / "out"
    own = publish(spec(request.param, **MADE[request.param]), table(), out=folder, allow_unproven=True)
    return own, folder


def test_every_method_comes_back_as_it_was_published(released):
    own, folder = released
    back = load_release(folder)
    assert isinstance(back, MicrodataRelease)
    assert back.table.equals(own.table)
    assert np.array_equal(back.kept, own.kept)
    assert back.claim == own.claim
    assert back.maker.parameters == own.maker.parameters
    assert back.aligned is (own.method in UNPROVEN_ONES)
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
    ages, sexes = (own.table.column(name).to_pylist() for name in ("age", "sex"))
    found = own.query("age in 3..6 and sex = F")
    assert found.value == sum(3 <= age <= 6 and sex == "F" for age, sex in zip(ages, sexes, strict=True))
    assert math.isnan(found.standard_error)
    assert found.note.startswith(NOTE)
    assert (UNPROVEN in found.note) is (own.claim.proven is None)
    assert own.query("sex = x").value == sum(sex in "FM" for sex in sexes)
    assert own.query("total").value == own.table.num_rows
    with pytest.raises(ValueError, match="cannot read"):
        own.query("weight = 3")


def test_published_methods_keep_the_order_of_the_rows_and_proven_ones_do_not(released):
    own, _ = released
    if own.aligned:
        rows = encode(own.schema, table().to_batches()[0])
        assert own.table.num_rows == 300
        # the category of its cluster, in its place; 0.36 +- 0.03 by chance, 0.6 or more also where two categories merge
        assert (own.codes[2] == rows[2]).mean() > 0.5
    metrics = evaluate(own, table())
    assert metrics["rows"] == 300
    assert 0 <= metrics["record_linkage_percent"] <= 100
    assert 0 <= metrics["one_way_total_variation"] <= 1
    assert 0 <= metrics["two_way_total_variation"] <= 1


def test_more_budget_means_records_nearer_to_the_rows():
    weak, strong = (publish(spec("dp_prototypes", {"epsilon": e}, clusters=3), table(1000)) for e in (0.01, 100))
    found = [evaluate(own, table(1000)) for own in (weak, strong)]
    assert found[1]["one_way_total_variation"] < 0.02 < found[0]["one_way_total_variation"]
    assert found[1]["range_mean_absolute_error_share"] < found[0]["range_mean_absolute_error_share"]


def test_auto_is_the_proven_one_with_its_noise_predicted():
    planned = plan(spec(users=3000))
    assert [one.method for one in planned.candidates] == ["dp_prototypes", "graphical"]
    own = planned.chosen.mechanism.synthesizer
    assert isinstance(own, DpPrototypes)
    assert planned.chosen.predicted_error == own.noise_sse(3000)
    assert all(one.mechanism.claim.proven == PureDP(epsilon=1) for one in planned.candidates)
    assert [one.method for one in plan(spec(clusters=4)).candidates] == ["dp_prototypes"]
    louder = plan(spec(privacy={"epsilon": 0.5}, clusters=4, users=3000)).chosen.predicted_error
    assert louder > 3 * plan(spec(clusters=4, users=3000)).chosen.predicted_error


def test_an_approximate_budget_is_spent_on_the_noise_that_adds_less():
    budget = {"epsilon": 1.0, "delta": 1e-6}
    found = [plan(spec(privacy=one, clusters=4)).chosen.predicted_error for one in (budget, {"epsilon": 1.0})]
    assert found[0] <= found[1]
    unpriced = plan(spec("graphical", budget)).chosen
    assert math.isinf(unpriced.predicted_error)
    assert isinstance(unpriced.mechanism.loss, ZCDP)  # many answers share rho better


REFUSED = [
    ({"method": "mdav"}, "mdav: the published claim is not proven: the groups are made of the raw records"),
    ({"clusters": 9999, "users": 500}, r"clusters: expected at most `users`, 500, got 9999"),
    ({"clusters": 400, "users": 500}, r"500 records carry at most \d+ clusters under epsilon = 1, got 400"),
    ({"rows": "aligned"}, "row i would be about person i"),
    ({"rows": "wild"}, "rows must be mixture or representative, got rows='wild'"),
    ({"clusters": 1, "rows": "representative"}, "expected at least 2, got 1"),
    ({"method": "dp_k_prototypes", "clusters": 1}, "expected at least 2, got 1"),
    ({"method": "mdav", "group": 1}, "group must be an integer >= 2"),
    ({"method": "mdav", "clusters": 3}, "unknown parameter 'clusters' for mdav; known: group, users, weights"),
    ({"method": "insensitive_microaggregation", "users": 300}, "group: insensitive_microaggregation needs it"),
    ({"method": "per_record"}, "users: per_record needs it"),
    ({"method": "identity"}, "'identity' makes no records; those that do: dp_k_prototypes, dp_prototypes"),
    ({"weights": [1.0]}, "weights: expected 3 numbers >= 0"),
    ({"weights": [0, 0, 0]}, "weights: expected 3 numbers >= 0"),
    ({"users": 0}, "users: expected an integer >= 1, got 0"),
    ({"k": 3}, "unknown parameter 'k'; known: clusters, rounds, rows, users, weights"),
    ({"method": "mdav", "privacy": {"rho": 1.0}}, "calibrated to epsilon, got rho = 1"),
]


@pytest.mark.parametrize(("parts", "message"), REFUSED)
def test_what_cannot_be_is_refused_before_anything_is_charged(parts, message, tmp_path):
    ledger = Ledger.create(tmp_path / "ledger.db", limit=PureDP(epsilon=10), unit=spec().privacy.protected)
    with pytest.raises(ValueError, match=message):
        publish(spec(**parts), table(), ledger=ledger)
    assert ledger.summary().entries == ()


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
    assert set(own.table.column("only").to_pylist()) == {"a"}
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
    path.write_text(whole)
    assert load_release(tmp_path / "out").table.num_rows
    pq.write_table(table(), tmp_path / "out" / "records.parquet")
    with pytest.raises(SchemaMismatch, match="differs from its checksum"):
        load_release(tmp_path / "out")


def test_a_seeded_release_repeats_its_records_and_claims_nothing():
    own, other = (publish(spec(clusters=3), table(), rng=generators.seeded(5)) for _ in range(2))
    assert own.table.equals(other.table)
    assert not own.private
    assert own.claim.proven is None
    assert not publish(spec(clusters=3), table()).table.equals(own.table)


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


def test_linkage_is_as_the_document_defines_it():
    own = publish(spec(clusters=3), table()).maker.columns
    rows = np.array([[0, 0, 9], [0, 0, 3], [0, 0, 2]], dtype=np.int32)
    distance, ties, _ = nearest(own, rows, rows)
    assert distance.tolist() == [0, 0, 0]
    assert ties.tolist() == [2, 2, 1]
    assert linked(own, rows, rows, aligned=True).linkage == pytest.approx((1 / 2 + 1 / 2 + 1) / 3)
    turned = rows[:, [2, 0, 1]]
    assert linked(own, rows, turned, aligned=True).linkage == pytest.approx(1 / 2 / 3)  # one of three in its place
    matched = linked(own, rows, turned, aligned=False)
    assert matched.linkage == pytest.approx(2 / 3)
    assert sorted(matched.original.tolist()) == [0, 1, 2]
    assert linked(own, rows, rows[:, [0, 1, 2, 2]], aligned=False).original.size == 4


def test_beyond_the_assignment_the_nearest_row_stands_in(monkeypatch):
    monkeypatch.setattr("dpress.kinds.microdata.linkage.ASSIGNED", 10)
    metrics = evaluate(publish(spec("dp_prototypes", clusters=3), table()), table())
    assert "nearest_squared_error" in metrics
    assert "record_linkage_percent" not in metrics
    assert 0 < metrics["record_linkage_percent_at_most"] <= 100


@pytest.mark.slow
def test_a_classifier_trained_on_records_is_tested_on_rows_held_out():
    pytest.importorskip("sklearn")
    own = publish(spec("dp_prototypes", {"epsilon": 50.0}, clusters=6), table(600))
    metrics = evaluate(own, table(600), held_out=table(200))
    assert metrics["classifier_accuracy_trained_on_rows"] == 1
    assert metrics["classifier_accuracy"] > metrics["classifier_accuracy_of_commonest"] + 0.2
    numbers = publish(spec(attributes=ATTRIBUTES[:2], clusters=2), table())
    with pytest.raises(NotSupported, match="no classifier: the last attribute"):
        evaluate(numbers, table(), held_out=table())
