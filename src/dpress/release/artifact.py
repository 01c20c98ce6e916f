"""A release: what is published, answers with their error, and the folder it is kept in."""

import datetime as dt
import hashlib
import importlib.metadata
import json
import math
import os
import shutil
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpress import catalog
from dpress.core.claim import Claim, Loss, PureDP, as_floats, describe, from_parameters, parameters
from dpress.core.domain import Bounded, Schema
from dpress.core.errors import SchemaMismatch
from dpress.core.linear import Array
from dpress.core.measurement import Measurement
from dpress.core.mechanism import Strategy
from dpress.data.spec import Spec, as_dict, from_dict
from dpress.estimate.interval import Tail, half_width
from dpress.estimate.postprocess import NAMES, adjust
from dpress.mechanisms.matrix_mechanism import MatrixMechanism
from dpress.release.plan import Plan, affordable, replanned
from dpress.release.query import parse

FORMAT = 1
CONFIDENCE = 0.95
MANIFEST = "release.json"
ANSWERS = "measurement.parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The answer to one query.

    Args:
        query: as it was asked.
        value: unbiased, in counts; it may be negative or fractional.
        standard_error: of the noise, exact.
        interval: holds the true count with the given confidence.
        confidence: between 0 and 1.
    """

    query: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    confidence: float


@dataclass(frozen=True, kw_only=True, repr=False)
class Release:
    """A finished release; everything in it may be published.

    Args:
        spec: what was asked for.
        planned: the plan it came from, with the mechanism that measured.
        measurement: the noisy answers.
        charged: the loss that was charged.
        private: False if a seeded generator drew the noise: then it protects nobody.
        created: UTC, ISO 8601.
        ledger_head: the hash of the ledger's last entry after the charge, or None without a ledger.
    """

    spec: Spec
    planned: Plan
    measurement: Measurement
    charged: Loss
    private: bool
    created: str
    ledger_head: str | None = None

    def __repr__(self) -> str:
        names = ", ".join(self.schema.names)
        return (
            f"Release({self.spec.release.kind} of {names}; {self.planned.chosen.method}; {describe(self.claim.proven)})"
        )

    @property
    def schema(self) -> Schema:
        """The attributes it is about."""
        return self.spec.schema

    @property
    def claim(self) -> Claim:
        """The promise of the mechanism that measured; nothing at all if the noise came from a seeded generator."""
        claim = self.planned.chosen.mechanism.claim
        if self.private:
            return claim
        basis = "the noise was drawn from a seeded generator for a test: not private"
        return Claim(published=claim.published, proven=None, unit=claim.unit, basis=basis)

    @property
    def tail(self) -> Tail:
        """The kind of noise."""
        return "laplace" if isinstance(self.planned.chosen.mechanism.loss, PureDP) else "gaussian"

    def query(self, text: str, *, confidence: float = CONFIDENCE) -> Result:
        """Answer a query such as `age in 30..40 and sex = Female`.

        Error: the exact variance of the noise in the answer; rows that were clamped or dropped are not part of it.

        Raises:
            ValueError: the text is no query on these attributes (see `query.parse`).
            NotSupported: no published table holds the attributes together.
        """
        weights = parse(self.schema, text)
        self._check_together(weights, text)
        decoder = self.planned.chosen.mechanism.strategy.decoder
        value = decoder.answer(self.measurement, weights)
        variance = decoder.query_variance(self.measurement.variance, weights)
        half = half_width(variance, confidence, self.tail)
        return Result(
            query=text,
            value=value,
            standard_error=math.sqrt(variance),
            interval=(value - half, value + half),
            confidence=confidence,
        )

    def _check_together(self, weights: list[Array], text: str) -> None:
        used = {axis for axis, weight in enumerate(weights) if not np.all(weight == 1)}
        tables = self.planned.chosen.mechanism.strategy.decoder.tables
        if not any(used <= set(axes) for axes in tables):
            names = [" x ".join(self.schema.names[axis] for axis in axes) for axes in tables]
            raise ValueError(f"no published table answers {text!r}; the tables are {', '.join(names)}")

    @cached_property
    def tables(self) -> dict[str, pa.Table]:
        """The published tables by file name.

        A row per cell: the attributes' cells, the estimated count, its standard error, and the ends of a 95 % interval;
        for an integer or numeric attribute also the lower and upper edge of the cell. Where the spec names
        post-processing, also the adjusted count, which is biased and which the interval is not about.
        """
        decoder = self.planned.chosen.mechanism.strategy.decoder
        estimates = decoder.estimate(self.measurement)
        variances = decoder.cell_variances(self.measurement.variance)
        tables = zip(decoder.tables, estimates, variances, strict=True)
        return {
            f"table_{number}.parquet": self._table(axes, estimate, variance)
            for number, (axes, estimate, variance) in enumerate(tables, start=1)
        }

    def _table(self, axes: tuple[int, ...], estimate: Array, variance: Array) -> pa.Table:
        shape = tuple(self.schema.shape[axis] for axis in axes)
        codes = np.unravel_index(np.arange(estimate.size), shape)
        columns: dict[str, Any] = {}
        for axis, own in zip(axes, codes, strict=True):
            columns |= _cell_columns(self.schema, axis, own)
        half = np.array([half_width(one, CONFIDENCE, self.tail) for one in np.unique(variance)])
        widths = half[np.unique(variance, return_inverse=True)[1]]
        columns |= {
            "count": estimate,
            "standard_error": np.sqrt(variance),
            "low": estimate - widths,
            "high": estimate + widths,
        }
        if self.spec.release.postprocess:
            columns["adjusted"] = adjust(estimate, self.spec.release.postprocess)
        return pa.table(columns)

    def manifest(self) -> dict[str, Any]:
        """Return the release's description as plain objects, without the tables."""
        chosen, claim = self.planned.chosen, self.claim
        return {
            "format": FORMAT,
            "dpress": importlib.metadata.version("dpress"),
            "created": self.created,
            "private": self.private,
            "method": chosen.method,
            "strategy": msgspec.to_builtins(chosen.mechanism.strategy, enc_hook=str),
            "noise": {name: str(value) for name, value in parameters(chosen.mechanism.loss).items()},
            "claim": {
                "published": as_floats(claim.published),
                "proven": as_floats(claim.proven),
                "relation": claim.unit.relation.value,
                "unit": claim.unit.column or "row",
                "rows_per_unit": claim.unit.rows,
                "basis": claim.basis,
            },
            "charged": {name: str(value) for name, value in parameters(self.charged).items()},
            "ledger_head": self.ledger_head,
            "error": {
                "predicted_mean_variance": chosen.predicted_error,
                "lower_bound": self.planned.lower_bound,
            },
            "tables": {
                f"table_{number}.parquet": [self.schema.names[axis] for axis in axes]
                for number, axes in enumerate(chosen.mechanism.strategy.decoder.tables, start=1)
            },
            **_postprocess(self.spec.release.postprocess),
            "spec_hash": self.spec.hash,
            "spec": as_dict(self.spec),
        }

    def write(self, folder: str | Path) -> Path:
        """Write the release to a new folder, whole or not at all, and return it.

        Raises:
            OSError: the folder exists, or the disk is full; nothing is left behind.
        """
        folder = check_new(folder)
        partial = _partial(folder)
        try:
            self._write_files(partial)
            partial.chmod(0o755)
            partial.rename(folder)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
        return folder

    def _write_files(self, folder: Path) -> None:
        manifest = self.manifest()
        for name, table in {ANSWERS: pa.table({"answer": self.measurement.answers}), **self.tables}.items():
            pq.write_table(table, folder / name, compression="zstd")
        manifest["sha256"] = {path.name: _sha256(path) for path in sorted(folder.iterdir())}
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        for path in folder.iterdir():
            with path.open("rb") as file:
                os.fsync(file.fileno())


def check_new(folder: str | Path) -> Path:
    """Return the path of a folder that does not exist yet but can be written; makes its parents.

    Raises:
        OSError: it exists, or its parent cannot be written.
    """
    folder = Path(folder)
    if os.path.lexists(folder):
        raise OSError(f"{folder} exists already; a release is never overwritten, choose another folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    _partial(folder).rmdir()
    return folder


def _partial(folder: Path) -> Path:
    """Return a new, empty folder beside the wanted one."""
    try:
        return Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise OSError(f"cannot write in {folder.parent}: {error.strerror}; choose another folder") from None


def load_release(folder: str | Path) -> Release:
    """Read a release back, and check that its description is the one that its method and its files give.

    Raises:
        OSError: a file is missing.
        SchemaMismatch: a file is truncated, was edited, or does not belong to this release.
    """
    folder = Path(folder)
    if not (folder / MANIFEST).exists():
        raise OSError(f"{folder} holds no release: there is no {MANIFEST} in it")
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        _check_files(folder, manifest)
        release = _from_manifest(folder, manifest)
        _check_manifest(release, manifest)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, pa.ArrowException) as error:
        what = f": {error}" if isinstance(error, SchemaMismatch) else " is truncated or was edited"
        raise SchemaMismatch(f"{folder / MANIFEST}{what}; publish again or restore the file") from None
    return release


def _check_files(folder: Path, manifest: dict[str, Any]) -> None:
    if manifest["format"] != FORMAT:
        raise SchemaMismatch(f"format {manifest['format']} is not known; this version reads format {FORMAT}")
    if set(manifest["sha256"]) != {ANSWERS, *manifest["tables"]}:
        raise SchemaMismatch("the list of checksums does not fit the list of tables")
    for name, digest in manifest["sha256"].items():
        if _sha256(folder / Path(name).name) != digest:
            raise SchemaMismatch(f"{name} differs from its checksum")


def _from_manifest(folder: Path, manifest: dict[str, Any]) -> Release:
    spec = from_dict(manifest["spec"])
    if spec.hash != manifest["spec_hash"]:
        raise SchemaMismatch("the specification differs from its hash")
    mechanism = _mechanism(spec, manifest)
    planned = replanned(spec, manifest["method"], mechanism)
    answers = pq.read_table(folder / ANSWERS)["answer"].to_numpy()
    if answers.dtype != np.int64 or type(manifest["private"]) is not bool:
        raise SchemaMismatch("the answers are not integers, or `private` is neither true nor false")
    return Release(
        spec=spec,
        planned=planned,
        measurement=Measurement(map=mechanism.strategy.map, answers=answers, variance=mechanism.variance),
        charged=mechanism.claim.proven or from_parameters(manifest["charged"]),
        private=manifest["private"],
        created=str(manifest["created"]),
        ledger_head=manifest["ledger_head"],
    )


def _mechanism(spec: Spec, manifest: dict[str, Any]) -> MatrixMechanism:
    """Return the mechanism that measured: the plan of another version might choose another one."""
    method = catalog.card(manifest["method"]).method
    strategy: Strategy = msgspec.convert(manifest["strategy"], method, dec_hook=lambda kind, text: kind(text))
    for loss in affordable(spec):
        if loss == from_parameters(manifest["noise"]):
            return MatrixMechanism(strategy=strategy, loss=loss, unit=spec.privacy.protected)
    raise SchemaMismatch("the noise is not what the specification's budget pays for")


def _check_manifest(release: Release, manifest: dict[str, Any]) -> None:
    """Refuse a description that is not what the method and its noise give; the wording of `basis` may change."""
    expected, found = release.manifest(), dict(manifest)
    for plain in (expected, found):
        plain["claim"] = {**plain["claim"], "basis": None}
    for name in ("claim", "charged", "tables"):
        if expected[name] != found[name]:
            raise SchemaMismatch(f"`{name}` is not the one that the method and its noise give")
    if [one["name"] for one in found.get("postprocess", [])] != [*release.spec.release.postprocess]:
        raise SchemaMismatch("`postprocess` is not the one that the specification names")
    if not all(math.isclose(value, found["error"][name], rel_tol=1e-9) for name, value in expected["error"].items()):
        raise SchemaMismatch("`error` is not the one that the method and its noise give")


def _postprocess(names: tuple[str, ...]) -> dict[str, Any]:
    """Return what a description says of the adjusted counts: nothing where there are none."""
    return {"postprocess": [{"name": name, "bias": NAMES[name].bias} for name in names]} if names else {}


def now() -> str:
    """Return the time in UTC, ISO 8601, to the second."""
    return dt.datetime.now(tz=dt.UTC).isoformat(timespec="seconds")


def _cell_columns(schema: Schema, axis: int, codes: np.ndarray) -> dict[str, Any]:
    attribute = schema.tabular[axis]
    labels = pa.array(attribute.labels)
    columns: dict[str, Any] = {attribute.name: labels.take(pa.array(codes))}
    if isinstance(attribute, Bounded):
        edges = pa.array(attribute.edges)
        inside = pa.array(codes, mask=codes >= attribute.ordered)
        above = pa.array(codes + 1, mask=codes >= attribute.ordered)
        columns |= {f"{attribute.name}_from": edges.take(inside), f"{attribute.name}_below": edges.take(above)}
    return columns


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
