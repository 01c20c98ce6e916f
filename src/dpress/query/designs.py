"""Designs and what acts on them: a mechanism is written down, and read back without planning or choosing anything.

mechanism -> ask, estimator -> Design -> JSON; JSON -> Design -> mechanism, whose claim must be the one written.
"""

from pathlib import Path
from typing import Any

from msgspec import UNSET

from dpress import catalog
from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.core.basics.claim import Claim
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.core.basics.losses.any_loss import parameters
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.new_path import new_file
from dpress.core.basics.place import readable
from dpress.core.basics.plain import plain, read
from dpress.core.maps.linear import Numbers
from dpress.core.methods.mechanism import CuratorMechanism, Mechanism
from dpress.core.reports.encoders import Code
from dpress.core.reports.oracle import Oracle
from dpress.core.reports.wire import Expected
from dpress.document import design as documents
from dpress.document.design import Amounts, CentralAsk, Design, LocalAsk, Part, Promise, ReportType, Rounds, report_id
from dpress.mechanisms.protocol import report_type
from dpress.mechanisms.protocol.collection import Collection, as_collection
from dpress.mechanisms.protocol.estimator import FROM_REPORT_TYPES, Estimator

TOO_LARGE = "there is not enough memory for it"
FEW = 1 << 20  # values that a tally is made for without a question


def load_design(path: str | Path) -> Design:
    """Read a design and check that it promises what it says.

    Raises:
        OSError: the file cannot be read.
        SchemaMismatch: it is no design, or its claim is not the one that its numbers give.

    >>> import dpress
    >>> age = {"name": "age", "kind": "integer", "bounds": [0, 9]}
    >>> spec = dpress.load_spec({"attribute": [age], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}})
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_design(dpress.save_design(dpress.plan(spec).design, f"{folder}/design.json")).method
    'identity'
    """
    try:
        design = documents.decode(Path(path).read_bytes())
        for attribute in design.attributes:
            if attribute.kept_as:  # what is named by its hash alone
                attribute.with_files(Path(path).parent)
        mechanism_of(design)
        _check_method(design)
    except SchemaMismatch as error:
        raise SchemaMismatch(f"{path}: {error}") from None
    return design


def _check_method(design: Design) -> None:
    """Refuse a method that none of the candidates is: a page compares them."""
    names = [candidate.method for candidate in design.prediction.candidates]
    if design.method not in names:
        raise SchemaMismatch(
            f"the design is wrong: $.method: expected a candidate, {', '.join(names)}, got {design.method!r}"
        )


def save_design(design: Design, path: str | Path) -> Path:
    """Write a design to a new file and return its path.

    Raises:
        OSError: the file exists, or cannot be written.

    >>> import dpress, pyarrow as pa
    >>> age = {"name": "age", "kind": "integer", "bounds": [0, 99], "bins": 10}
    >>> plain = {"attribute": [age], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     saved = dpress.save_design(dpress.plan(dpress.load_spec(plain)).design, f"{folder}/design.json")
    ...     dpress.load_design(f"{folder}/design.json").method
    'identity'
    """
    place = new_file(path, "a design is")
    place.write_text(documents.encode(design), encoding="utf-8")
    return place


def central_ask(mechanism: Mechanism, schema: Schema) -> CentralAsk:
    """Return what a curator measures."""
    return CentralAsk(attributes=_coded(schema), mechanism=plain(mechanism))


def local_ask(collection: Collection, schema: Schema, *, first: str = "") -> LocalAsk:
    """Return what devices are asked.

    Args:
        collection: the types of a round.
        schema: the attributes whose codes they are about.
        first: the id of the first round's ask, where this is a later one.
    """
    types = tuple(_written(report) for report in collection.types)
    return LocalAsk(attributes=_coded(schema), report_types=types, rounds=_rounds(collection.estimator, first))


def _rounds(estimator: Estimator, first: str) -> Rounds | None:
    rounds = estimator.rounds
    return Rounds(number=estimator.round, types=rounds, collection=first) if rounds else None


def estimator_of(mechanism: Mechanism) -> dict[str, Any]:
    """Return how tallies become answers, beyond what the ask tells; empty where a curator measures."""
    if (collection := as_collection(mechanism)) is None:
        return {}
    fields: dict[str, Any] = plain(collection.estimator, context=FROM_REPORT_TYPES)
    return fields


def mechanism_of(design: Design) -> Mechanism:
    """Return the mechanism that a design describes.

    Raises:
        SchemaMismatch: its numbers fit no method, or do not give the claim that it states.
    """
    try:
        ask = design.ask
        mechanism = _collection(design, ask) if isinstance(ask, LocalAsk) else _measured(design, ask)
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, MemoryError, RecursionError) as error:
        raise SchemaMismatch(
            readable(f"the design's mechanism is wrong: {str(error) or TOO_LARGE}", documents.as_plain(design))
        ) from None
    if promise(mechanism.claim) != design.claim:
        raise SchemaMismatch("the design's claim is not the one that its mechanism gives")
    return mechanism


def _measured(design: Design, ask: CentralAsk) -> CuratorMechanism:
    if design.estimator or design.split or design.round:
        raise ValueError("$.estimator: a table has no estimator, split or round")
    context = {"attributes": design.schema.tabular}
    mechanism: Any = read(object, ask.mechanism, "$.ask.mechanism", find=catalog.find, context=context)
    if not isinstance(mechanism, CuratorMechanism):
        raise ValueError("$.ask.mechanism: no mechanism of a curator")  # of the data, not the code
    return mechanism


def _collection(design: Design, ask: LocalAsk) -> Collection:
    schema = design.schema
    pairs = enumerate(ask.report_types)
    types = tuple(_read(report, schema.shape, f"$.ask.report_types[{number}]") for number, report in pairs)
    oracles = tuple(oracle for report in types for oracle in report.oracles)
    context = {
        "shape": schema.shape,
        "types": types,
        "weights": tuple(report.weight for report in types),
        "sets": tuple(report.axes for report in types),
        "oracles": oracles,
        "oracle": oracles[0],
    }
    estimator: Any = read(object, design.estimator, "$.estimator", find=catalog.find, context=context)
    if not isinstance(estimator, Estimator) or not design.split:
        raise ValueError("$.estimator: no estimator of a collection")
    collection = Collection(shape=schema.shape, types=types, split=design.split, estimator=estimator)
    _check_ask(collection, design, ask)
    return collection


def _check_ask(collection: Collection, design: Design, ask: LocalAsk) -> None:
    """Refuse an estimator whose own report types, or whose round, are not what devices are asked."""
    estimator: Any = collection.estimator
    types: tuple[report_type.ReportType, ...] = getattr(estimator, "types", collection.types)
    if tuple(map(_written, types)) != ask.report_types:
        raise ValueError("$.ask.report_types: not those whose reports the estimator understands")
    first = "" if ask.rounds is None else ask.rounds.collection
    if ask.rounds != (stated := _rounds(estimator, first)) or (stated is not None and stated.number != design.round):
        raise ValueError("$.ask.rounds: not those of the estimator")
    if estimator.coded(design.schema.tabular) != design.schema.tabular:
        raise ValueError("$.ask.attributes: not those that the estimator's round asks about")
    if stated is not None and bool(stated.number) != bool(first):
        raise ValueError("$.ask.rounds.collection: expected the id of the first round, empty in that round itself")


def _written(report: report_type.ReportType) -> ReportType:
    parts = tuple(Part(axes=part.axes, encoder=part.encoder, oracle=plain(part.oracle)) for part in report.parts)
    return ReportType(weight=report.weight, width=report.width, parts=parts)


def _read(record: ReportType, shape: tuple[int, ...], place: str) -> report_type.ReportType:
    pairs = enumerate(record.parts)
    parts = tuple(_part(part, shape, f"{place}.parts[{number}]") for number, part in pairs)
    report = report_type.ReportType(parts=parts, weight=record.weight)
    if report.width != record.width:
        raise ValueError(f"{place}.width: a payload has {report.width} bytes, not {record.width}")
    return report


def _part(record: Part, shape: tuple[int, ...], place: str) -> report_type.Part:
    oracle: Any = read(object, record.oracle, f"{place}.oracle", find=catalog.find)
    if Oracle not in type(oracle).mro():  # `isinstance` computes what a protocol has, however long that takes
        raise ValueError(f"{place}.oracle: {record.oracle.get('method')!r} is no oracle")  # of the data, not the code
    if not record.axes or not all(0 <= axis < len(shape) for axis in record.axes):
        raise ValueError(f"{place}.axes: expected places of the {len(shape)} attributes")
    if record.encoder == Code() and (len(record.axes), oracle.size) != (1, shape[record.axes[0]]):
        raise ValueError(f"{place}.oracle: it is not over the values of attribute #{record.axes[0] + 1}")
    return report_type.Part(axes=record.axes, encoder=record.encoder, oracle=oracle)


def _coded(schema: Schema) -> tuple[Tabular, ...]:
    return tuple(attribute.plain for attribute in schema.tabular)


def promise(claim: Claim) -> Promise:
    """Return a claim as a design states it; the wording of its basis may change."""
    return Promise(
        published=amounts(claim.published),
        proven=amounts(claim.proven),
        relation=claim.unit.relation.value,
        unit=claim.unit.columns if claim.unit.also else claim.unit.name,
        rows_per_unit=claim.unit.rows,
        given=claim.given or UNSET,
    )


def amounts(loss: Loss | None) -> Amounts | None:
    """Return a loss as exact texts."""
    return None if loss is None else {name: str(value) for name, value in parameters(loss).items()}


def with_users(mechanism: Mechanism, kept: Numbers) -> Mechanism:
    """Return a collection with the number of those who took part, by its kept tallies; any other mechanism as it is.

    Raises:
        SchemaMismatch: the tallies are far too short for the values that were asked about; nothing as long was made.
    """
    if (collection := as_collection(mechanism)) is None:
        return mechanism
    if max(oracle.size for report in collection.types for oracle in report.oracles) > max(FEW, len(kept)):
        raise SchemaMismatch("the kept tallies are fewer than the values that they count")
    return collection.counted(collection.tallies_in(kept))


def expected(design: Design, collection: Collection) -> Expected:
    """Return what every report of the collection says of itself.

    Raises:
        NotSupported: the design asks no devices.
    """
    if (ask := design.ask.of_devices) is None:
        raise NotSupported('this design measures a table; devices answer one with model = "local"')
    widths = tuple(report.width for report in collection.types)
    return Expected(ask=report_id(ask), widths=widths, round=design.round)


def collection_of(design: Design, *, allow_unproven: bool = False) -> Collection:
    """Return the collection that a design describes.

    Raises:
        NotSupported: the design asks no devices, or its method is unproven.
    """
    if not design.local:
        raise NotSupported('$.privacy.model: reports need model = "local"; `dpress publish` releases a table')
    if (collection := as_collection(mechanism_of(design))) is None:
        raise TypeError(f"{design.method} asks no devices")
    charge(collection, design.method, allow_unproven=allow_unproven)
    return collection


def charge(mechanism: Mechanism, method: str, *, allow_unproven: bool) -> Loss:
    """Return what running a mechanism costs: what is proven, or what its paper claims where that was allowed.

    Raises:
        NotSupported: the method is unproven and was not allowed, or claims nothing.
    """
    claim = mechanism.claim
    loss = claim.proven or claim.published
    if loss is None or (claim.proven is None and not allow_unproven):
        _, _, why = claim.basis.partition("no proof")
        raise NotSupported(f"{method}: the published claim is not proven{why}; allow_unproven runs it anyway")
    return loss
