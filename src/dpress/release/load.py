"""Reads a release back, and refuses one that is not what its method and its files give."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from dpress import catalog
from dpress.core.claim import from_parameters
from dpress.core.errors import SchemaMismatch
from dpress.core.grid import Grid
from dpress.core.linear import Numbers
from dpress.core.measurement import Measurement
from dpress.core.mechanism import RangeStrategy, Strategy
from dpress.data.spec import Spec, from_dict
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.product import Product
from dpress.mechanisms.protocol.collection import Collection
from dpress.release.artifact import FORMAT, Release
from dpress.release.candidate import CentralMapping
from dpress.release.folder import MANIFEST, columns, read
from dpress.release.joint_plan import joint_collections
from dpress.release.kept import refitted
from dpress.release.local_plan import collections
from dpress.release.map import kind_of
from dpress.release.microdata import MicrodataRelease, Parts, measured
from dpress.release.microdata_plan import remade
from dpress.release.plan import replanned
from dpress.release.records import NAME as RECORDS
from dpress.release.spatial_plan import central_map, spatial_collections
from dpress.release.table_plan import affordable


def load_release(folder: str | Path) -> Release:
    """Read a release back, and check that its description is the one that its method and its files give.

    Raises:
        OSError: the folder holds no release, or a file cannot be read.
        SchemaMismatch: a file is missing or truncated, was edited, or does not belong to this release.
    """
    folder = Path(folder)
    if not (folder / MANIFEST).exists():
        raise OSError(f"{folder} holds no release: there is no {MANIFEST} in it")
    try:
        manifest, answers = read(folder, known=FORMAT)
        release = _from_manifest(manifest, answers, folder)
        _check_manifest(release, manifest)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, pa.ArrowException) as error:
        what = f": {error}" if isinstance(error, SchemaMismatch) else " is truncated or was edited"
        raise SchemaMismatch(f"{folder / MANIFEST}{what}; publish again or restore the file") from None
    return release


def _from_manifest(manifest: dict[str, Any], answers: Numbers, folder: Path) -> Release:
    spec = from_dict(manifest["spec"])
    if spec.hash != manifest["spec_hash"]:
        raise SchemaMismatch("the specification differs from its hash")
    if type(manifest["private"]) is not bool:
        raise SchemaMismatch("`private` is neither true nor false")
    if spec.privacy.model == "local":
        return _collected(spec, manifest, answers)
    if spec.release.kind == "microdata":
        return _records(spec, manifest, answers, folder)
    mechanism = _mechanism(spec, manifest) if spec.release.kind != "spatial" else _map(spec, manifest)
    planned = replanned(spec, manifest["method"], mechanism)
    return kind_of(spec)(
        spec=spec,
        planned=planned,
        measurement=_measured(mechanism, answers),
        charged=mechanism.claim.proven or from_parameters(manifest["charged"]),
        private=manifest["private"],
        created=str(manifest["created"]),
        ledger_head=manifest["ledger_head"],
    )


def _collected(spec: Spec, manifest: dict[str, Any], kept: Numbers) -> Release:
    """Return the release of a collection: its tallies, estimated again."""
    kind = spec.release.kind
    offered = {"joint": joint_collections, "spatial": spatial_collections}.get(kind, collections)(spec)
    found = [one for name, one in offered if (name, one.split) == (manifest["method"], manifest["split"])]
    same = [one for one in found if (len(one.questions), one.shape[0]) == (manifest["questions"], _side(one, manifest))]
    tallies, fitted = refitted(kept, same[0])
    if fitted is not None:
        fitted = replace(fitted, reason=str(manifest.get("fit", "")))
    collection = same[0].counted(tallies)
    if collection.users != manifest["users"]:
        raise SchemaMismatch("`users` is not the number of reports in the tallies")
    return kind_of(spec)(
        spec=spec,
        planned=replanned(spec, manifest["method"], collection),
        measurement=collection.measurement(tallies),
        kept=kept,
        fitted=fitted,
        records=int(manifest.get("records", 0)),
        rejected=msgspec.convert(manifest["rejected"], dict[str, int]),
        charged=collection.claim.proven or from_parameters(manifest["charged"]),
        private=manifest["private"],
        created=str(manifest["created"]),
    )


def _side(collection: Collection, manifest: dict[str, Any]) -> int:
    """Return the side of the grid of a map that was released; any other collection has one shape only."""
    return int(manifest["side"]) if collection.spatial is not None else collection.shape[0]


def _measured(mechanism: MatrixMechanism | CentralMapping, answers: Numbers) -> Measurement:
    """Return the measurement with these noisy answers."""
    if isinstance(mechanism, CentralMapping):
        return mechanism.measured(answers)
    return Measurement(map=mechanism.strategy.map, answers=answers, variance=mechanism.variance)


def _records(spec: Spec, manifest: dict[str, Any], kept: Numbers, folder: Path) -> Release:
    """Return a release of records: those in its file, and what made them."""
    made = [
        remade(spec, manifest["method"], loss, manifest["parameters"])
        for loss in affordable(spec)
        if loss == from_parameters(manifest["noise"])
    ]
    if not made:
        raise SchemaMismatch("the noise is not what the specification's budget pays for")
    parts = msgspec.convert(manifest["measured"], Parts)
    table = columns(folder / RECORDS)
    if table.num_rows != manifest["records"] or type(manifest["aligned"]) is not bool:
        raise SchemaMismatch("`records` is not the number of records")
    release = MicrodataRelease(
        spec=spec,
        planned=replanned(spec, manifest["method"], made[0]),
        measurement=measured(kept, parts),
        kept=kept,
        parts=parts,
        table=table,
        aligned=manifest["aligned"],
        charged=made[0].claim.proven or from_parameters(manifest["charged"]),
        private=manifest["private"],
        created=str(manifest["created"]),
        ledger_head=manifest["ledger_head"],
    )
    _ = release.codes  # refuses values that are none
    return release


def _map(spec: Spec, manifest: dict[str, Any]) -> CentralMapping:
    """Return what measured a map."""
    for loss in affordable(spec):
        if loss == from_parameters(manifest["noise"]):
            made = central_map(spec, manifest["method"], Grid(manifest["side"]), loss)
            if made is not None:
                return made
    raise SchemaMismatch("the noise is not what the specification's budget pays for")


def _mechanism(spec: Spec, manifest: dict[str, Any]) -> MatrixMechanism:
    """Return the mechanism that measured: the plan of another version might choose another one."""
    strategy = _strategy(catalog.card(manifest["method"]).method, manifest["strategy"])
    for loss in affordable(spec):
        if loss == from_parameters(manifest["noise"]):
            return MatrixMechanism(strategy=strategy, loss=loss, unit=spec.privacy.protected)
    raise SchemaMismatch("the noise is not what the specification's budget pays for")


def _strategy(method: type, plain: dict[str, Any]) -> Strategy:
    """Return the strategy that was written; over several attributes it is the product of its factors."""
    if set(plain) == {"factors"}:
        return Product(tuple(_factor(method, factor) for factor in plain["factors"]))
    strategy: Strategy = msgspec.convert(plain, method, dec_hook=lambda kind, text: kind(text))
    return strategy


def _factor(method: type, plain: dict[str, Any]) -> RangeStrategy:
    factor: RangeStrategy = msgspec.convert(plain, method, dec_hook=lambda kind, text: kind(text))
    return factor


def _check_manifest(release: Release, manifest: dict[str, Any]) -> None:
    """Refuse a description that is not what the method and its noise give; the wording of `basis` may change."""
    expected, found = release.manifest(), dict(manifest)
    for plain in (expected, found):
        plain["claim"] = {**plain["claim"], "basis": None}
    for name in ("claim", "charged", "tables"):
        if expected[name] != found[name]:
            raise SchemaMismatch(f"`{name}` is not the one that the method and its noise give")
    if found.get("joint", expected.get("joint")) != expected.get("joint"):
        raise SchemaMismatch("`joint` does not name the attributes of the fitted joint")
    if [one["name"] for one in found.get("postprocess", [])] != [*release.spec.release.postprocess]:
        raise SchemaMismatch("`postprocess` is not the one that the specification names")
    if not all(_near(value, found["error"][name]) for name, value in expected["error"].items()):
        raise SchemaMismatch("`error` is not the one that the method and its noise give")


def _near(expected: object, found: object) -> bool:
    """Return whether two numbers are equal but for rounding; what is no number must be the same."""
    if isinstance(expected, float) and isinstance(found, (int, float)):
        return math.isclose(expected, found, rel_tol=1e-6)
    return expected == found
