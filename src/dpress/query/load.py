"""Reads a release back, and refuses one that is not what its design and its files give. Nothing is planned."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from dpress import catalog
from dpress.core.basics.edited_file import reason
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.losses.read import from_parameters
from dpress.core.methods.mechanism import MeasuringMechanism
from dpress.document.design import Design, fingerprint, from_plain
from dpress.query.folder import ANSWERS, CSV, MANIFEST, STATEMENTS, answers_of, as_csv, description, verify
from dpress.query.kept_tables import kept_files, restore
from dpress.query.release import FORMAT, Release
from dpress.query.table_files import NUMBERED

WRONG = (
    *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError, AssertionError),
    *(RecursionError, MemoryError, pa.ArrowException),
)
"""What acting on an edited description may raise, whatever the number that was edited."""

DERIVED = ("claim", "charged", "tables", "asked", "postprocess", "users", "method", "design_id")
"""What the design and the kept integers give again, and must be as it was written."""


def load_release(folder: str | Path) -> Release:
    """Read a release back, and check that its description is the one that its design and its files give.

    Raises:
        OSError: the folder holds no release, or a file cannot be read.
        SchemaMismatch: a file is missing or truncated, was edited, or does not belong to this release.

    >>> import dpress, pyarrow as pa
    >>> age = {"name": "age", "kind": "integer", "bounds": [0, 99], "bins": 10}
    >>> plain = {"attribute": [age], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = dpress.publish(dpress.load_spec(plain), pa.table({"age": [34] * 900}), out=f"{folder}/release")
    ...     list(dpress.load_release(f"{folder}/release").tables)
    [('age',)]
    """
    folder = Path(folder)
    if not (folder / MANIFEST).exists():
        several = "; it has the releases of statements: ask --statement 1, or name the folder of one of them"
        more = several if (folder / STATEMENTS).is_file() else ""
        why = "holds no release" if folder.is_dir() else "is a file, no release" if folder.exists() else "is not there"
        raise OSError(f"{folder} {why}: name a folder that `dpress publish --out` wrote, with its {MANIFEST}{more}")
    try:
        manifest = description(folder, formats=(NUMBERED, FORMAT))
        release = _from_manifest(manifest, folder)
        _check(release, manifest)
    except WRONG as error:
        raise SchemaMismatch(f"{folder / MANIFEST}{reason(error)}; publish again or restore the file") from None
    return release


def _from_manifest(manifest: dict[str, Any], folder: Path) -> Release:
    design = from_plain(manifest["design"])
    _verify(manifest, design, folder)
    answers = answers_of(folder)
    if manifest["design_hash"] != fingerprint(manifest["design"]):
        raise SchemaMismatch("the design differs from its hash")
    if type(manifest["private"]) is not bool:
        raise SchemaMismatch("`private` is neither true nor false")
    restore(design.attributes, folder)
    release = Release(
        design=design,
        kept=answers,
        charged=from_parameters(manifest["charged"]),
        private=manifest["private"],
        created=str(manifest["created"]),
        predicted=manifest["error"]["predicted"],
        ledger_head=manifest["ledger_head"],
        ledger=manifest.get("ledger"),
        csv=any(name.endswith(CSV) for name in manifest["sha256"]),
        with_asked="asked" in manifest,
        format=int(manifest["format"]),
        rejected=msgspec.convert(manifest.get("rejected", {}), dict[str, int]),
    )
    if isinstance(mechanism := release.mechanism, MeasuringMechanism):
        mechanism.measured(answers)  # refuses another number of them, and what are no levels
    detail = catalog.room(design.kind).answering.restored(release, manifest, folder)
    return release if detail is None else replace(release, detail=detail)  # a copy knows nothing that was derived


def _verify(manifest: Mapping[str, Any], design: Design, folder: Path) -> None:
    """Refuse a file that differs from its checksum; large tables are held against theirs when they are asked for."""
    first, large = {ANSWERS, *kept_files(design.attributes)}, catalog.room(design.kind).kind.large
    for name, digest in manifest["sha256"].items():
        if name in first or not large:
            verify(folder / Path(name).name, digest)


def _check(release: Release, manifest: Mapping[str, Any]) -> None:
    """Refuse a description that is not what the design gives; the wording of `basis` and `bias` may change."""
    expected, stated = (_unworded(description) for description in (release.described(), manifest))
    for name in (*DERIVED, *(name for name in release.answers.described if name in stated)):
        if expected.get(name) != stated.get(name):
            raise SchemaMismatch(f"`{name}` is not the one that the design and its mechanism give")
    if release.charged != _charge(release):
        raise SchemaMismatch("`charged` is not the one that the design and its mechanism give")
    _check_files(release, manifest)
    _check_error(release, manifest)


def _unworded(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return a description without the sentences that another version may word otherwise."""
    fields = {**description, "claim": {**description["claim"], "basis": None}}
    if "postprocess" in fields:
        fields["postprocess"] = [step["name"] for step in fields["postprocess"]]
    return fields


def _charge(release: Release) -> object:
    claim = release.mechanism.claim
    return claim.proven or claim.published


def _check_files(release: Release, manifest: Mapping[str, Any]) -> None:
    answers = release.answers
    beside = {file for name, file in answers.beside.items() if name in manifest}
    written = {*answers.tables, *answers.asked, *beside, *kept_files(release.design.attributes)}
    if set(manifest["sha256"]) != {ANSWERS, *written, *(map(as_csv, written) if release.csv else ())}:
        raise SchemaMismatch("the list of checksums does not fit the list of tables")
    described = answers.described
    for name in answers.beside:
        if (name in manifest) != (name in described) or manifest.get(name) != described.get(name):
            raise SchemaMismatch(f"`{name}` is not the one that the design gives")


def _check_error(release: Release, manifest: Mapping[str, Any]) -> None:
    """Refuse a predicted error that is not the mechanism's; where only a plan predicts it, not the plan's.

    What a release's own answers show is simulated, and by other versions otherwise, and so is what depends on how
    people are supposed to lie: any number may stand there.
    """
    answering = catalog.room(release.design.kind).answering
    again = answering.predicted(release.mechanism, release.workload)
    if answering.typical is not None:
        if again is not None and not _near(again, release.design.prediction.error):
            raise SchemaMismatch("the design's predicted error is not the one that its mechanism gives")
        again = _some_error(release.predicted)
    elif answering.supposed(release.mechanism):
        again = _some_error(release.predicted)
    expected = release.design.prediction.error if again is None else again
    error = {"predicted": expected, "lower_bound": release.lower_bound, "unit": release.design.prediction.unit}
    if not all(_near(value, manifest["error"][name]) for name, value in error.items()):
        raise SchemaMismatch("`error` is not the one that the design and its mechanism give")


def _some_error(stated: object) -> float:
    """Return a stated error as it is.

    Raises:
        SchemaMismatch: it is no number, or cannot be an error.
    """
    if isinstance(stated, bool) or not isinstance(stated, (int, float)) or not 0 <= stated < math.inf:
        raise SchemaMismatch("`error` is no number >= 0")
    return float(stated)


def _near(expected: object, stated: object) -> bool:
    """Return whether two numbers are equal but for rounding; what is no number must be the same."""
    if isinstance(expected, float) and isinstance(stated, (int, float)):
        return math.isclose(expected, stated, rel_tol=1e-6)
    return expected == stated
