"""The plan as data: everything that a curator, a device, a collector or a reader needs to act, and nothing to decide.

Design -> canonical JSON of its `ask` -> SHA-256, which names the collection in every report and keys permanent
responses. Numbers that are no integers are texts wherever a device or a mechanism computes with them.
"""

import hashlib
import importlib
import math
from typing import Annotated, Any, ClassVar, Literal

import msgspec

from dpress.attributes.attribute import KINDS, Attribute, Coded, Tabular
from dpress.attributes.domain import Schema
from dpress.core.basics import claim_words
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.losses.read import from_parameters
from dpress.core.basics.place import readable
from dpress.core.basics.written_again import difference
from dpress.core.reports.encoders import Encoder
from dpress.document.queries import Queries

FORMAT = 1
ID_BYTES = 16  # of the hash, in a report
MOST_TYPES = 1 << 16  # a report names its type in 16 bits
Positive = Annotated[int, msgspec.Meta(ge=1)]
RELEASE = ("kind", "postprocess")  # what stands under `release`
MOMENT = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,6})?Z$"


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One value of a report.

    Args:
        axes: the attributes it is about, by their places in `Ask.attributes`.
        encoder: how their codes become the oracle's value.
        oracle: the mechanism, `method` and its exact numbers (`core.basics.plain`).
    """

    axes: tuple[int, ...]
    encoder: Encoder
    oracle: dict[str, Any]


class ReportType(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one report answers.

    Args:
        weight: of all sampling weights; a device answers one type, drawn with this probability.
        width: the bytes of a payload.
        parts: one after the other in the payload.
    """

    weight: Positive
    width: Positive
    parts: Annotated[tuple[Part, ...], msgspec.Meta(min_length=1)]


class Rounds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a collection comes in rounds, each of which is planned by what came out of those before.

    Args:
        number: of this round, from 0.
        types: how many report types every round has; each has one user group, drawn once for all rounds.
        collection: the id of the first round's `ask`; empty in the first round itself.
    """

    number: Annotated[int, msgspec.Meta(ge=0)]
    types: tuple[Positive, ...]
    collection: Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{64})?$")]


class LocalAsk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="model", tag="local"):
    """All that a device acts on.

    Args:
        attributes: how values become codes (`coding`).
        report_types: what is reported; a device answers one of them.
        rounds: None where there is one.
    """

    attributes: tuple[Coded, ...]
    report_types: Annotated[tuple[ReportType, ...], msgspec.Meta(min_length=1, max_length=MOST_TYPES)]
    rounds: Rounds | None

    @property
    def of_devices(self) -> "LocalAsk":
        """What devices are asked: this."""
        return self


class CentralAsk(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="model", tag="central"
):
    """All that a curator measures.

    Args:
        attributes: how values become codes (`coding`).
        mechanism: what is measured with which noise, for whom (`core.basics.plain`).
    """

    rounds: ClassVar[None] = None  # a table is measured once
    of_devices: ClassVar[None] = None  # which are not asked
    attributes: tuple[Tabular, ...]
    mechanism: dict[str, Any]


Ask = LocalAsk | CentralAsk
Amounts = dict[str, str]  # a loss, exact: {"epsilon": "1"}


class Promise(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the mechanism claims; read again from the `ask` wherever the design is read."""

    published: Amounts | None
    proven: Amounts | None
    relation: str
    unit: str | tuple[str, ...]
    rows_per_unit: int
    given: str | msgspec.UnsetType = msgspec.UNSET


class Offer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A method that was considered.

    Args:
        method: its name.
        error: that was predicted; None without a formula.
        assumes: what the error supposes of the people; empty where it supposes nothing.
        asks: what a device would be asked about, as a phrase; empty for a table.
    """

    method: str
    error: float | None
    assumes: str
    asks: str


class Prediction(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was expected when the plan was made.

    Args:
        users: how many people, or rows, it was made for.
        error: of the method, in `unit`; None without a formula.
        unit: of all errors.
        lower_bound: that no method of this kind goes below; 0 where none is known.
        candidates: smallest error first.
    """

    users: int
    error: float | None
    unit: str
    lower_bound: float
    candidates: tuple[Offer, ...]


class Design(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One publication or collection, decided.

    Args:
        format: of this document.
        ask: what is asked of devices, or measured of a table; its hash is the design's name.
        kind: the room of `kinds` that answers.
        method: that was chosen.
        split: of a collection, what is divided among the attributes, "users" or "budget"; empty for a table.
        round: of a collection that is repeated as it is; in every report, and not part of the `ask`.
        estimator: how a collection's tallies become answers, beyond what the `ask` tells; empty for a table.
        attributes: what is released, with the names of all cells.
        release: the kind, its post-processing and what it hides and rounds, as the specification names them.
        queries: that the predicted error is about.
        budget: that the specification allows.
        claim: what is promised.
        prediction: what was expected.
        specification: what was asked for, as it was written, but for the place of the rows; for people, nothing acts
            on it.
        ends: of a collection's rounds, where they are known, in UTC; left out where they are not.

    >>> import dpress
    >>> age = {"name": "age", "kind": "integer", "bounds": [0, 9]}
    >>> spec = dpress.load_spec({"attribute": [age], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}})
    >>> design = dpress.plan(spec).design
    >>> design.method, design.budget, len(design.id)
    ('identity', {'epsilon': '1'}, 64)
    """

    periods: ClassVar[msgspec.UnsetType] = msgspec.UNSET  # each is a design
    source: ClassVar[None] = None  # who acts on a design names the rows
    format: int
    ask: Ask
    kind: str
    method: str
    split: Literal["users", "budget", ""]
    round: int
    estimator: dict[str, Any]
    attributes: tuple[Attribute, ...]
    release: dict[str, Any]
    queries: Queries
    budget: Amounts
    claim: Promise
    prediction: Prediction
    specification: dict[str, Any]
    ends: tuple[Annotated[str, msgspec.Meta(pattern=MOMENT)], ...] | msgspec.UnsetType = msgspec.UNSET

    @property
    def id(self) -> str:
        """The SHA-256 of the `ask` in canonical form, hexadecimal."""
        return identity(self.ask)

    @property
    def collection(self) -> str:
        """The id of the first round's `ask`, which names a collection in all its rounds."""
        return self.id if self.ask.rounds is None else self.ask.rounds.collection or self.id

    @property
    def end(self) -> str | None:
        """When its round ends, in UTC; None where that is not stated."""
        ends = self.ends or ()
        return ends[self.round] if self.round < len(ends) else None

    @property
    def title(self) -> str:
        """What it is called: as the specification says, else after what is asked."""
        stated: str = self.specification.get("release", {}).get("title", "")
        return stated or ", ".join(attribute.caption for attribute in self.attributes)

    @property
    def where(self) -> str:
        """The public condition of which rows are those of the release; empty for all."""
        stated: str = self.specification.get("data", {}).get("where", "")
        return stated

    @property
    def whom(self) -> str:
        """Whom two tables that belong together protect, a sentence; empty where the rows are of one."""
        unit = (self.claim.unit,) if isinstance(self.claim.unit, str) else self.claim.unit
        return claim_words.of_two_tables(self.specification.get("table", ()), unit)

    @property
    def design(self) -> "Design":
        """What is done: this."""
        return self

    @property
    def local(self) -> bool:
        """Whether devices answer."""
        return self.ask.of_devices is not None

    @property
    def schema(self) -> Schema:
        """The attributes whose cells are counted: a location as its two sides on the grid."""
        return acting(self.attributes, self.ask.attributes)


def acting(attributes: tuple[Attribute, ...], coded: tuple[Tabular, ...]) -> Schema:
    """Return attributes as they are coded.

    A location becomes two axes with as many cells as its coding has, one whose values devices tell has the candidates
    of its coding, and one of which people hold sets their words.
    """
    tabular: list[Tabular] = []
    for attribute in attributes:
        tabular += attribute.acting(coded[len(tabular)])
    boxes = (attribute.box for attribute in attributes)
    return Schema(tuple(tabular), tuple((box.name, *box.pair) for box in boxes if box is not None))


def identity(ask: Ask) -> str:
    """Return the SHA-256 of an `ask`, hexadecimal; see `canonical`."""
    return hashlib.sha256(canonical(ask)).hexdigest()


def collection_id(ask: LocalAsk) -> bytes:
    """Return the 16 bytes that key permanent responses and user groups: the same in all rounds of a collection."""
    first = ask.rounds.collection if ask.rounds is not None else ""
    return bytes.fromhex(first or identity(ask))[:ID_BYTES]


def report_id(ask: LocalAsk) -> bytes:
    """Return the 16 bytes by which every report names the `ask` that it answers."""
    return bytes.fromhex(identity(ask))[:ID_BYTES]


def canonical(ask: Ask) -> bytes:
    """Return the canonical form: JSON in UTF-8, names sorted, no white space, numbers that are no integers as text."""
    return msgspec.json.encode(_written(msgspec.to_builtins(ask)), order="sorted")


def as_plain(design: Design) -> dict[str, Any]:
    """Return a design as plain data, for JSON."""
    plain: dict[str, Any] = msgspec.to_builtins(design)
    for part in (plain, plain["ask"]):
        part["attributes"] = _written(part["attributes"])
    return plain


def fingerprint(plain: Any) -> str:
    """Return the SHA-256 of a whole design as plain data, hexadecimal: a release keeps it beside the design."""
    return hashlib.sha256(msgspec.json.encode(plain, order="sorted")).hexdigest()


def encode(design: Design) -> str:
    """Return a design as the JSON text that `decode` reads."""
    return msgspec.json.format(msgspec.json.encode(as_plain(design)), indent=2).decode() + "\n"


def from_plain(plain: Any) -> Design:
    """Return the design that plain data describes; only its form is checked here.

    Raises:
        SchemaMismatch: a field is missing, unknown or of another type, or the format is not known; one line that
            names the place.
    """
    if not isinstance(plain, dict) or "format" not in plain:
        raise SchemaMismatch("no design: it has no `format`")
    if plain["format"] != FORMAT:
        raise SchemaMismatch(f"a design of format {plain['format']!r}; this version reads format {FORMAT}")
    try:
        design = msgspec.convert(_with_numbers_in(plain), Design)
        fault = difference(plain, as_plain(design)) or _unfit(design)
    except SchemaMismatch:
        raise
    except (ValueError, LookupError, TypeError, ArithmeticError, RecursionError) as error:
        raise SchemaMismatch(readable(f"the design is wrong: {error}", plain)) from None
    if fault:
        raise SchemaMismatch(readable(f"the design is wrong: {fault}", plain))
    return design


def _unfit(design: Design) -> str:
    """Return what is wrong in the parts that have no type of their own, or do not fit each other."""
    axes = sum(len(attribute.columns) for attribute in design.attributes)
    if (
        len(design.ask.attributes) != axes
        or tuple(attribute.plain for attribute in design.schema.tabular) != design.ask.attributes
    ):
        raise SchemaMismatch("the design's attributes are not those of its `ask`")
    if design.local and (fault := next(filter(None, (attribute.no_device for attribute in design.attributes)), "")):
        return f"$.attributes: {fault}"
    try:
        from_parameters(design.budget)
    except ValueError as error:
        return f"$.budget: {error}"
    if shown := [name for name in ("hide", "round") if name in design.release]:
        importlib.import_module("dpress.inference.suppression").display_of(design.release)  # few hide anything
    return difference(dict.fromkeys(design.release), dict.fromkeys((*RELEASE, *shown)), "$.release")


def _with_numbers_in(plain: dict[str, Any]) -> dict[str, Any]:
    """Return a design's plain data with the texts of its attributes' numbers as numbers."""
    ask = plain.get("ask")
    if isinstance(ask, dict) and "attributes" in ask:
        plain = {**plain, "ask": {**ask, "attributes": _numbers(ask["attributes"])}}
    return {**plain, "attributes": _numbers(plain["attributes"])} if "attributes" in plain else plain


def decode(text: str | bytes) -> Design:
    """Return the design that a JSON text holds.

    Raises:
        SchemaMismatch: it is no JSON, or no design.
    """
    try:
        plain = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SchemaMismatch(f"no design: it is no JSON ({error})") from None
    return from_plain(plain)


def _written(value: Any) -> Any:
    """Return plain data with every float as the shortest text that reads back as it."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("numbers in a design must be finite")
        return repr(value)
    if isinstance(value, dict):
        return {name: _written(part) for name, part in value.items()}
    return [_written(part) for part in value] if isinstance(value, (list, tuple)) else value


def _numbers(attributes: Any) -> Any:
    """Return plain attributes with the texts of their bounds and edges as numbers again."""
    listed = attributes if isinstance(attributes, (list, tuple)) else ()
    return [_with_numbers(each) if isinstance(each, dict) else each for each in listed] if listed else attributes


def _with_numbers(attribute: dict[str, Any]) -> dict[str, Any]:
    kind = attribute.get("kind")
    decimals = KINDS[kind].decimals if isinstance(kind, str) and kind in KINDS else ()
    return {name: _parsed(value) if name in decimals else value for name, value in attribute.items()}


def _parsed(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_parsed(part) for part in value]
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value  # refused as no number
