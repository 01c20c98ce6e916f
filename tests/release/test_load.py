"""Releases that are read back, and those that are refused because somebody edited them."""

import copy
import json
import re

import pyarrow.parquet as pq
import pytest
from tests.release.stored import design_of, released

from dpress import SchemaMismatch, load_release, publish
from dpress.document.design import fingerprint

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda text: text[: len(text) // 2], "is truncated or was edited"),
        (lambda _text: "", "is truncated or was edited"),
        (lambda text: text.replace('"epsilon": 1.0', '"epsilon": 0.1'), "differs from its hash|is not the one"),
        (lambda text: text.replace('"proven": {', '"proven": null, "x": {'), "unknown field"),
        (lambda text: text.replace('"proven": {', '"proven": null, "x": {', 1), "is not the one"),
        (lambda text: text.replace('"format": 3', '"format": 99'), "format 99 is not known"),
        (lambda text: text.replace('"format": 1', '"format": 99'), "format 99; this version reads format 1"),
        (lambda text: text.replace('"bounds"', '"bouds"'), "unknown field"),
    ],
)
def test_a_truncated_or_edited_manifest_is_refused(make_spec, rows, tmp_path, edit, message):
    publish(make_spec("ranges", ["age"]), rows, out=tmp_path / "release")
    manifest = tmp_path / "release" / "release.json"
    changed = edit(manifest.read_text())
    assert changed != manifest.read_text()
    manifest.write_text(changed)
    with pytest.raises(SchemaMismatch, match=message):
        load_release(tmp_path / "release")


def test_an_edited_table_is_refused(make_spec, rows, tmp_path):
    publish(make_spec("ranges", ["age"]), rows, out=tmp_path / "release")
    path = tmp_path / "release" / "age.parquet"
    pq.write_table(pq.read_table(path).slice(1), path)
    with pytest.raises(SchemaMismatch, match=r"age.parquet differs from its checksum"):
        load_release(tmp_path / "release")


def test_the_manifest_holds_no_true_count(make_spec, rows, tmp_path):
    publish(make_spec("histogram", ["age"], {"epsilon": 0.001}), rows, out=tmp_path / "release")
    manifest = json.loads((tmp_path / "release" / "release.json").read_text())
    about = "format dpress created private method claim charged ledger_head"
    assert set(manifest) == set(f"{about} error tables postprocess design_id design_hash design sha256".split())
    hashes = {"sha256": None, "design_id": None, "design_hash": None, "created": None}
    assert "500" not in json.dumps({**manifest, **hashes})


def rehashed(manifest, part, **changes):
    """Return a description whose design was edited together with its hash."""
    design = {**manifest["design"], part: {**manifest["design"][part], **changes}}
    return manifest | {"design": design, "design_hash": fingerprint(design)}


@pytest.mark.parametrize(
    "edit",
    [
        lambda m: m | {"sha256": {}},
        lambda m: m | {"charged": {"epsilon": "1/1000000"}},
        lambda m: m | {"private": "no"},
        lambda m: m | {"claim": m["claim"] | {"proven": {"epsilon": 0.5}}},
        lambda m: m | {"claim": m["claim"] | {"relation": "replace-one"}},
        lambda m: m | {"error": m["error"] | {"predicted": 1e-9}},
        lambda m: m | {"error": m["error"] | {"lower_bound": 1e-9}},
        lambda m: m | {"error": m["error"] | {"unit": "cells"}},
        lambda m: m | {"tables": {}},
        lambda m: m | {"method": "boost"},
        lambda m: m | {"users": 7},
        lambda m: m | {"design_id": "0" * 64},
        lambda m: m | {"design_hash": "0" * 64},
        lambda m: m | {"design": m["design"] | {"budget": {"epsilon": "1/10"}}},
        lambda m: rehashed(m, "claim", proven={"epsilon": "1/10"}, published={"epsilon": "1/10"}),
        lambda m: rehashed(m, "claim", relation="replace-one"),
        lambda m: [m],
    ],
)
def test_a_description_that_promises_something_else_is_refused(make_spec, rows, tmp_path, edit):
    publish(make_spec("ranges", ["age"]), rows, out=tmp_path / "release")
    path = tmp_path / "release" / "release.json"
    path.write_text(json.dumps(edit(json.loads(path.read_text()))))
    with pytest.raises(SchemaMismatch, match="publish again or restore the file"):
        load_release(tmp_path / "release")


# Every leaf of the embedded design, changed in turn.

OF_NO_CONSEQUENCE = [
    r"specification\..*",  # for people
    r"prediction\.(users|candidates\..*)",  # what else was considered, for how many
    r"budget\..*",  # what a new ledger would have allowed
    r"round",  # which reports were wanted, or nothing of a table
    r"release\.kind",  # one name of the room's
    r"attributes\.\d+\.(null|other|hierarchy\..*|name)",  # how cells and groups are called; of a location, its own name
]
OF_SOME_KINDS = {
    "central": [r"estimator"],  # a table has none
    "microdata": [r"release\.postprocess", r"queries\..*"],  # there are no tables
    "spatial": [r"release\.postprocess", r"queries\..*", r"prediction\.error"],  # predicted, and evaluated, for them
    "joint": [r"estimator\.strategy\..*"],  # a fit is kept
    "local": [r"queries\..*"],  # the error is that of every cell that is published
    "ahead": [
        r"estimator\.(steps|last).*",
        r"estimator\.earlier.*(counts|users).*",
    ],  # further rounds, and earlier ones
}
"""What loading finds in no other place: only the design's hash guards it."""


def leaves(value, path=()):
    if isinstance(value, (dict, list)) and value:
        for name, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(one, (*path, name))
    else:
        yield path, value


def others(value):
    """Return other values for a leaf, one of them of another type."""
    if isinstance(value, (bool, int, float)):
        return [not value] if isinstance(value, bool) else [value + 1, str(value)]
    if isinstance(value, str):
        return [value + "1", 1]
    return [1] if value is None else [[1], {"x": 1}]


def changed(plain, path, value):
    own = copy.deepcopy(plain)
    part = own
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = value
    return own


@pytest.fixture(
    params=["ranges_privelet", "histogram_rho", "census_quadtree", "records_dp_prototypes", "local_rr_ldp",
            "joint_pairs", "joint_em", "map_gtr_top_down", "map_ahead_0", "map_ahead_1"]
)  # fmt: skip
def written(request, tmp_path, monkeypatch):
    """A release of every sort in its folder, and its design; what a map repeats to know its error, three times."""
    monkeypatch.setattr("dpress.mechanisms.spatial.map_decoder.RUNS", 3)
    design = design_of(request.param)
    released(design, tmp_path)
    return tmp_path / "release", design


def refusals(folder, *, hashed):
    """Yield for every leaf and every other value of it whether the release is refused."""
    path = folder / "release.json"
    plain = json.loads(path.read_text())
    for place, value in leaves(plain["design"]):
        for other in others(value):
            design = changed(plain["design"], place, other)
            own = {"design_hash": fingerprint(design)} if hashed else {}
            path.write_text(json.dumps({**plain, "design": design, **own}))
            try:
                load_release(folder)
            except SchemaMismatch as refusal:
                yield ".".join(map(str, place)), str(refusal)
            else:
                yield ".".join(map(str, place)), ""
    path.write_text(json.dumps(plain))


def test_a_design_that_was_edited_is_refused_wherever_that_was(written):
    folder, _ = written
    found = list(refusals(folder, hashed=False))
    assert len(found) > 100
    assert [place for place, message in found if not message] == []
    assert load_release(folder)


@pytest.mark.slow
def test_what_is_edited_together_with_the_hash_is_refused_or_of_no_consequence(written):
    """A claim, a report type, noise, an oracle's number: nothing that acts can be edited; names and hints can."""
    folder, own = written
    kinds = ("local" if own.local else "central", own.release["kind"], own.method)
    inert = [*OF_NO_CONSEQUENCE, *(one for kind in kinds for one in OF_SOME_KINDS.get(kind, []))]
    accepted = {place for place, message in refusals(folder, hashed=True) if not message}
    assert [one for one in sorted(accepted) if not any(re.fullmatch(known, one) for known in inert)] == []
    assert not any(one.startswith(("ask", "claim", "format", "kind", "method", "split")) for one in accepted)
