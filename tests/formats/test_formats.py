"""Every design, file of reports and release that was ever stored is read today, and answers as it did."""

import json
import math
from pathlib import Path

import msgspec
import numpy as np
import pyarrow.parquet as pq
import pytest

import dpress
from dpress import catalog
from dpress.core.basics.errors import SchemaMismatch
from dpress.mechanisms.protocol.collection import Collection

STORED = Path(__file__).with_name("stored")
PLACES = sorted(path.parent for path in STORED.glob("*/answers.json"))
LARGEST = 3_000_000  # bytes of all stored files together

RELATIVE = 1e-9
"""Of answers that are linear in the kept integers: sums and solutions in floats, whose order may change."""

OPEN = 0.05
"""In standard errors, of fits and of errors by bootstrap: a fit stops within its rule (a gain below 1e-4 in mean log
likelihood, or a change of tables below a tolerance), and one step more or fewer moves an answer by less than that."""

FITTED = 1e-5
"""Of the largest number of a fit that is kept: another processor's matrix products add up in another order."""

RESTATED = 2  # by which errors of collected tables may differ from those that earlier versions stated
NO_DOCUMENT = {
    "approximate_quantiles",
    "exponential",
}  # for those who build on it from Python; no kind of release takes them


def case(place):
    return json.loads((place / "answers.json").read_text())


def every(found):
    """Yield all objects of a document, at any depth."""
    if isinstance(found, dict):
        yield found
    for one in found.values() if isinstance(found, dict) else found if isinstance(found, list) else ():
        yield from every(one)


def documents():
    return [json.loads((place / "design.json").read_text()) for place in PLACES]


def near(expected, found, scale, *, fitted):
    if expected is None or math.isnan(expected):
        return math.isnan(found)
    room = OPEN * scale if fitted else RELATIVE * max(abs(expected), scale)
    return abs(expected - found) <= room


def mended(release):
    """Whether it is a map without counts below zero: earlier versions stated errors that left out bias.

    Its counts are what they were, its errors larger by purpose.
    """
    return release.kind == "spatial" and not release.mechanism.decoder.estimator.linear


def restated(release):
    """Whether it is of counts that devices answered: earlier versions stated errors that were exceeded too often.

    Its counts are what they were; errors of sums of pairs' cells and of `rappor` may be smaller, others are larger. A
    map's were an average over all nodes of a level, and are larger where people are and smaller where nobody is.
    Those of numbers counted the spread of people beside the noise, and are smaller.
    """
    kinds = ("histogram", "marginals", "joint", "spatial", "statistics")
    return isinstance(release.mechanism, Collection) and release.kind in kinds


def widened(release):
    """Whether devices told of tiles only: earlier versions stated intervals that left out what a cut tile hides.

    Its counts and standard errors are what they were; an interval holds the count wherever people are in the tiles.
    """
    return release.kind == "ranges" and release.answers.tiles is not None


def check_answers(stored, release):
    for one in stored["answers"]:
        own = release.query(one["query"])
        if widened(release) and own.note is not None:
            assert near(one["value"], own.value, one["standard_error"], fitted=not stored["exact"])
            assert near(one["standard_error"], own.standard_error, one["standard_error"], fitted=not stored["exact"])
            assert own.interval[0] <= own.value <= own.interval[1]
            assert one["note"] is not None
            continue
        if restated(release) and not mended(release):
            fitted = not stored["exact"] or one["note"] is not None
            assert near(one["value"], own.value, one["standard_error"] or 0.0, fitted=fitted)
            assert one["standard_error"] / RESTATED <= own.standard_error <= one["standard_error"] * RESTATED
            assert (own.note is None) == (one["note"] is None)
            continue
        if mended(release):
            assert near(one["value"], own.value, one["standard_error"], fitted=True)
            assert own.standard_error >= one["standard_error"] * (1 - OPEN)
            assert (own.unbiased is None) == (own.note is not None)
            continue
        expected = (one["value"], one["standard_error"], *one["interval"])
        found = (own.value, own.standard_error, *own.interval)
        fitted = not stored["exact"] or one["note"] is not None
        scale = one["standard_error"] or 0.0
        wrong = [pair for pair in zip(expected, found, strict=True) if not near(*pair, scale, fitted=fitted)]
        assert not wrong, one["query"]
        told = one["note"] is not None or bool(release.claim.unit.counted)  # of persons' caps since
        assert (own.note is not None) == told


def check_tables(stored, expected, found, release):
    """Two release folders hold the same tables; columns that a fit made within its tolerance."""
    others = {"standard_error", "low", "high"} if mended(release) or restated(release) else set()
    others |= {"low", "high"} if widened(release) else set()
    stated, written = (dpress.load_release(folder).files for folder in (expected, found))
    files = {"measurement.parquet": "measurement.parquet", **dict(zip(stated, written, strict=True))}  # of any format
    assert {path.name for path in expected.glob("*.parquet")} == {*files}
    assert {path.name for path in found.glob("*.parquet")} == {*files.values()}
    for name, again in files.items():
        one, other = pq.read_table(expected / name), pq.read_table(found / again)
        assert one.schema.equals(other.schema), name
        scale = np.asarray(one["standard_error"]) if "standard_error" in one.column_names else np.zeros(one.num_rows)
        for column in set(one.column_names) - others:
            of_fit = name == "joint.parquet" or (name == "measurement.parquet" and release.kind == "joint")
            fitted = not stored["exact"] or of_fit or column == "adjusted"
            check_column(one[column], other[column], scale, fitted=fitted)


def check_column(expected, found, scale, *, fitted):
    one, other = (np.asarray(own) for own in (expected, found))
    if fitted and str(expected.type) == "int64":  # counts, and behind them a fit on a lattice
        assert (np.abs(one - other) <= FITTED * one.max()).all()
        return
    if str(expected.type) != "double":
        assert expected.equals(found)
        return
    room = OPEN * scale if fitted else RELATIVE * np.maximum(np.abs(one), scale)
    same = (np.isnan(one) & np.isnan(other)) | (one == other) | (np.abs(one - other) <= room)
    assert same.all()


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_a_stored_design_is_read(place):
    stored, design = case(place), dpress.load_design(place / "design.json")
    completed = design.method in {
        "discovered_groups",
        "private_bounds",
        "bounds_from_outside",
        "quantile_cells",
    }  # by what the release found
    assert (design.id != stored["design_id"]) is completed
    assert msgspec.to_builtins(design.claim) == stored["claim"]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_a_stored_release_answers_as_it_did(place, tmp_path):
    stored, release = case(place), dpress.load_release(place / "release")
    assert release.design.id == stored["design_id"]
    assert len(release.kept) == stored["kept"]
    check_answers(stored, release)
    release.write(tmp_path / "again")
    assert release.files == dpress.load_release(tmp_path / "again").files
    check_tables(stored, place / "release", tmp_path / "again", release)


@pytest.mark.parametrize(
    "place", [place for place in PLACES if (place / "reports.parquet").exists()], ids=lambda place: place.name
)
def test_stored_reports_are_estimated_as_they_were(place, tmp_path):
    stored, design = case(place), dpress.load_design(place / "design.json")
    release = dpress.estimate(
        design, place / "reports.parquet", out=tmp_path / "again", allow_unproven=stored["unproven"]
    )
    assert (release.users, dict(release.rejected)) == (stored["users"], stored["rejected"])
    counted = sum(release.mechanism.sizes)  # what is kept beyond them was fitted, and is compared by its answers
    tallies = [number for tally in stored["tallies"] for number in tally]
    assert release.kept[:counted].tolist() == tallies[:counted]
    assert len(release.kept) == len(tallies)
    check_answers(stored, release)
    check_tables(stored, place / "release", tmp_path / "again", release)
    following = place / "release" / "next.json"
    assert (tmp_path / "again" / "next.json").exists() == following.exists()
    if following.exists():
        assert (tmp_path / "again" / "next.json").read_text() == following.read_text()


def test_every_method_has_a_case():
    named = {one["method"] for document in documents() for one in every(document) if "method" in one}
    assert set(catalog.cards()) - NO_DOCUMENT - named == set()


def test_every_kind_has_a_case():
    found = documents()
    assert {one["kind"] for one in found} == set(catalog.kinds())
    names = {name for kind in catalog.kinds().values() for name in kind.names}
    assert {one["release"]["kind"] for one in found} == names
    assert {one["ask"]["model"] for one in found if one["kind"] == "spatial"} == {"central", "local"}


def test_every_form_of_a_document_has_a_case():
    found = documents()

    def told(field):
        return {one[field] for document in found for one in every(document) if isinstance(one.get(field), str)}

    assert told("encoder") == {"code", "codes", "combination", "interval", "leaf", "node", "run", "tile"}
    assert told("queries") == {"all", "areas", "cells", "length", "listed", "predicates", "prefixes", "ranges"}
    assert {one["kind"] for document in found for one in document["attributes"]} == {
        "categorical", "date", "datetime", "hierarchy", "integer", "location", "numeric", "ordinal",
    }  # fmt: skip
    assert {tuple(sorted(one["budget"])) for one in found} == {("epsilon",), ("delta", "epsilon"), ("rho",)}
    assert {one["claim"]["relation"] for one in found} == {"add-remove", "replace-one"}
    assert {one["split"] for one in found} == {"users", "budget", ""}


def test_all_that_is_stored_is_small():
    assert sum(path.stat().st_size for path in STORED.rglob("*") if path.is_file()) < LARGEST


def test_a_design_with_another_probability_is_refused(tmp_path):
    document = json.loads((STORED / "local_krr" / "design.json").read_text())
    oracle = document["ask"]["report_types"][0]["parts"][0]["oracle"]
    numerator, _, denominator = oracle["p"].partition("/")
    oracle["p"] = f"{int(numerator) + 2}/{denominator}"
    altered = tmp_path / "design.json"
    altered.write_text(json.dumps(document))
    with pytest.raises(SchemaMismatch, match="more than epsilon"):
        dpress.load_design(altered)


def test_a_design_that_spends_less_than_it_says_is_another_one(tmp_path):
    document = json.loads((STORED / "local_krr" / "design.json").read_text())
    oracle = document["ask"]["report_types"][0]["parts"][0]["oracle"]
    numerator, _, denominator = oracle["p"].partition("/")
    oracle["p"] = f"{int(numerator) - 2}/{denominator}"
    altered = tmp_path / "design.json"
    altered.write_text(json.dumps(document))
    other = dpress.load_design(altered)
    assert other.id != case(STORED / "local_krr")["design_id"]
    with pytest.raises(SchemaMismatch, match="another collection"):
        dpress.estimate(other, STORED / "local_krr" / "reports.parquet")


def test_a_release_with_another_design_id_is_refused(tmp_path):
    folder = tmp_path / "release"
    folder.mkdir()
    for path in (STORED / "histogram" / "release").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    description = json.loads((folder / "release.json").read_text())
    first = description["design_id"][0]
    description["design_id"] = ("0" if first != "0" else "1") + description["design_id"][1:]
    (folder / "release.json").write_text(json.dumps(description))
    with pytest.raises(SchemaMismatch, match="design_id"):
        dpress.load_release(folder)


@pytest.mark.parametrize("by", [1e-6, -1e-6])
def test_a_moved_answer_would_be_found(by):
    place = STORED / "histogram"
    stored, release = case(place), dpress.load_release(place / "release")
    stored["answers"][0]["value"] += by
    with pytest.raises(AssertionError):
        check_answers(stored, release)


def test_a_stored_case_is_never_written_again(maker):
    assert maker.main(["histogram"]) == 1
    assert {name for name in maker.CASES if not any(STORED.glob(f"{name}*/answers.json"))} == set()
