"""The spec file: one TOML that describes a publication or a collection and travels unchanged."""

import hashlib
import itertools
import re
import tomllib
from collections.abc import Mapping
from datetime import UTC
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.core.basics import notebook
from dpress.core.basics.claim import Relation
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.losses.any_loss import describe
from dpress.core.basics.place import readable
from dpress.data.specification.constraint import Constraint
from dpress.data.specification.linked_table import LinkedTable, LinkedTables, linked, with_cap
from dpress.data.specification.spec_error import first_fault, too_large
from dpress.data.specification.spec_files import with_files
from dpress.data.specification.spec_parts import Collection, Data, Periods, Privacy, Release
from dpress.inference import postprocess


class Spec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One publication or collection.

    Args:
        data: where the rows are; not needed to plan.
        attribute: the columns and their public cells.
        privacy: the promise.
        release: the result.
        collection: when devices are asked.
        periods: of a table that is published again and again.
        constraint: what holds in every record that is made.
        table: two tables that belong together, in the place of the rows in `data`.

    >>> import dpress
    >>> age = {"name": "age", "kind": "integer", "bounds": [0, 9]}
    >>> spec = dpress.load_spec({"attribute": [age], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}})
    >>> spec.privacy.loss, spec.release.kind
    (PureDP(epsilon=Fraction(1, 1)), 'histogram')
    """

    design: ClassVar[None] = None  # nothing is planned
    data: Data | None = None
    attribute: tuple[Attribute, ...]
    privacy: Privacy
    release: Release
    collection: Collection | msgspec.UnsetType = msgspec.UNSET
    periods: Periods | msgspec.UnsetType = msgspec.UNSET
    constraint: tuple[Constraint, ...] | msgspec.UnsetType = msgspec.UNSET
    table: tuple[LinkedTable, ...] | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        """Check that the parts fit each other."""
        if not isinstance(self.privacy, Privacy) or not isinstance(self.release, Release):
            raise ValueError("Spec(...) takes its parts as objects; dpress.load_spec(...) reads plain ones")
        if not self.attribute:
            raise ValueError("expected at least one [[attribute]]")
        for name in self.release.named:
            self._check_attribute(name)
        if self.collection is not msgspec.UNSET and self.privacy.model == "central":
            raise ValueError('.collection: a table is not collected; leave it out, or set model = "local"')
        self._check_levels()
        self._check_postprocess()
        self._check_devices()
        self._check_periods()
        self._check_where()
        self._check_tables()

    def __repr__(self) -> str:
        names = ", ".join(attribute.name for attribute in self.attribute)
        return f"Spec({self.release.kind} of {names}; {self.privacy.model}; {describe(self.privacy.loss)})"

    def _repr_html_(self) -> str:
        from dpress.data.specification.toml import as_toml  # noqa: PLC0415  # notebooks alone show it

        return notebook.text(as_toml(as_dict(self)))

    @property
    def spec(self) -> "Spec":
        """What is asked for: this."""
        return self

    @property
    def linked(self) -> LinkedTables | None:
        """Its two tables that belong together; None where its rows are of one."""
        return linked(self.table or (), "" if self.data is None else self.data.rows)

    @property
    def source(self) -> str | dict[str, str] | None:
        """The file that it names, or those of two tables by their names; None where it names none."""
        if (tables := self.linked) is not None:
            return tables.source
        return None if self.data is None else self.data.source or None

    def _check_tables(self) -> None:
        """Refuse two tables that do not belong together, or whose rows cannot keep the promise."""
        tables = self.linked
        for place, constraint in enumerate(self.constraints, 1):
            if constraint.persons is not msgspec.UNSET and (tables is None or not tables.both):
                wanted = "only beside records of two [[table]], without `rows` in [data]; leave it out"
                raise ValueError(f".constraint[#{place}].persons: {wanted}")
        if tables is None:
            return
        if self.data is not None and self.data.source:
            raise ValueError(".data.source: each [[table]] names its rows in its `source`; leave it out")
        if self.privacy.model == "local" or self.periods is not msgspec.UNSET:
            raise ValueError('.table: two tables are published once, by a curator: model = "central", no [periods]')
        tables.check_unit(self.privacy.protected.columns, self.privacy.rows_per_unit)
        names = Schema(self.attribute).names
        tables.check_names(names, self.release.named or names)

    def _check_levels(self) -> None:
        """Refuse levels that no released attribute has, and two of one."""
        trees = [attribute.tree_levels for attribute in self.schema.attributes if attribute.tree_levels]
        for place, level in enumerate(self.release.levels):
            has = next((levels for levels in trees if level in levels), ())
            if not has:
                some = (
                    f"one of {', '.join(itertools.chain.from_iterable(trees))}" if trees else "no level: none has any"
                )
                raise ValueError(f".release.level: expected {some}, got {level!r}")
            if {*has} & {*self.release.levels[:place]}:
                raise ValueError(f".release.level: expected one of {', '.join(has)}, got {level!r} beside another")

    def _check_devices(self) -> None:
        """Refuse under the local model what devices in other languages than Python do not code."""
        for attribute in self.attribute:
            if attribute.no_device and self.privacy.model == "local":
                raise ValueError(f".attribute[{attribute.name}].kind: {attribute.no_device}; {attribute.for_devices}")

    def _check_periods(self) -> None:
        """Refuse periods that follow no calendar, and persons whose rows may be in any number of them."""
        if self.periods is msgspec.UNSET:
            return
        periods, privacy = self.periods, self.privacy
        dated = next((column.calendar for column in self.schema.attributes if column.name == periods.attribute), None)
        if dated is None or dated.cyclic:
            raise ValueError(
                f".periods.attribute: expected a released attribute of kind date or datetime whose cells follow each "
                f"other, got {periods.attribute!r}"
            )
        if privacy.model == "local" or privacy.delta is not None:
            raise ValueError('.periods: a table is published by periods, model = "central", under `epsilon` or `rho`')
        person = privacy.unit != "row"
        if person and periods.counter not in ("separate", "auto"):
            raise ValueError('.periods.counter: running counters protect rows; for persons leave it "separate"')
        if person == (periods.per_unit is msgspec.UNSET):
            what = "expected of how many periods a person counts, got none" if person else "only for persons"
            raise ValueError(f".periods.per_unit: {what}")

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """What holds in every record that is made."""
        return self.constraint or ()

    @property
    def where(self) -> str:
        """The condition of which rows are those of the release; empty for all."""
        return "" if self.data is None else self.data.where

    @property
    def of_all_rows(self) -> "Spec":
        """The same without a condition: for made-up rows, of which all are the release's."""
        data = self.data
        return self if data is None else msgspec.structs.replace(self, data=msgspec.structs.replace(data, where=""))

    def _check_where(self) -> None:
        """Refuse a condition beside which the number of rows counts as public, or a device would show that it holds."""
        if "\n" in self.where:
            raise ValueError(".data.where: expected a condition in one line, got several")
        if self.where and self.privacy.model == "local":
            raise ValueError('.data.where: a device that reports would show that it holds; set model = "central"')
        if self.where and self.privacy.relation is Relation.REPLACE_ONE:
            raise ValueError(
                '.data.where: expected relation = "add-remove": under "replace-one" the number of rows counts as '
                "public, and that of the rows of which a condition holds changes with one of them"
            )

    def _check_attribute(self, name: str) -> None:
        try:
            Schema(self.attribute).attribute(name)
        except SchemaMismatch as error:
            raise ValueError(f".release.attributes: {error}") from None

    def _check_postprocess(self) -> None:
        """Refuse adjustments that do not fit the model or the attributes."""
        if self.privacy.model == "central":
            for place, name in enumerate(self.release.adjustments, 1):
                if postprocess.NAMES[name].local:
                    raise ValueError(
                        f'.release.postprocess[#{place}]: {name} needs model = "local", where the number of users is '
                        "public; for a table `nonnegative` keeps the estimated total instead"
                    )
        attributes = self.schema.attributes
        ordered = len(attributes) == 1 and attributes[0].ordered > 0
        along = [name for name in self.release.adjustments if name in postprocess.ALONG_AN_ORDER]
        if along and not ordered:
            raise ValueError(
                f".release.postprocess: {along[0]} needs exactly one integer, numeric, date or ordinal attribute, "
                f"got {', '.join(self.schema.names)}"
            )

    @property
    def schema(self) -> Schema:
        """The attributes that are released, in the order in which the release names them.

        Where it names none, all are but those that `where` holds to one value and nothing else of the release names;
        where it says "all", all are.
        """
        full = Schema(self.attribute)
        names = self._released(full) if self.release.attributes is None else self.release.named or full.names
        released = full if names == full.names else full.subset(names)
        if (tables := self.linked) is not None and tables.both:
            from dpress.data.specification.slots import with_slots  # noqa: PLC0415  # few have any

            return Schema(with_slots(released.attributes, tables))
        return Schema(tuple(map(self._at_level, released.attributes))) if self.release.levels else released

    def _released(self, full: Schema) -> tuple[str, ...]:
        """Return the attributes of a release that names none."""
        if not self.where:
            return full.names
        from dpress.data.specification.constant_attributes import constant_attributes  # noqa: PLC0415  # few need it

        dated = () if self.periods is msgspec.UNSET else (self.periods.attribute,)
        wanted = repr((self.release.parameters, dated))
        places = [attribute.name for attribute in full.attributes if len(attribute.columns) > 1]
        constant = constant_attributes(self.where, {*full.names} - {*places})

        def stays(attribute: Attribute) -> bool:
            """Return whether there is more to learn of it: a label of a hierarchy names several values."""
            name = attribute.name
            several = name not in constant or attribute.with_cells.code(constant[name]) is None
            return several or re.search(rf"(?<!\w){re.escape(name)}(?!\w)", wanted) is not None

        return tuple(attribute.name for attribute in full.attributes if stays(attribute)) or full.names

    def _at_level(self, attribute: Attribute) -> Attribute:
        """Return an attribute with the nodes of the level as its cells that the release names; as it is without one."""
        named = [level for level in self.release.levels if level in attribute.tree_levels]
        return attribute.at(named[0]) if named else attribute

    @property
    def ends(self) -> tuple[str, ...] | msgspec.UnsetType:
        """When the rounds end, in UTC, as "2026-12-31T00:00:00Z"."""
        if self.collection is msgspec.UNSET:
            return msgspec.UNSET
        return tuple(end.astimezone(UTC).isoformat().replace("+00:00", "Z") for end in self.collection.ends)

    @property
    def hash(self) -> str:
        """SHA-256 of everything but the place of the rows, in a canonical form; hexadecimal."""
        return hashlib.sha256(msgspec.json.encode(as_dict(self), order="sorted")).hexdigest()


def as_dict(spec: Spec) -> dict[str, Any]:
    """Return the spec as plain objects without the place of the rows; `from_dict` reads it back.

    How a file is written stays: whoever publishes from a design reads the same format.
    """
    plain: dict[str, Any] = msgspec.to_builtins(spec)
    for table in plain.get("table", ()):
        table.pop("source", None)
    written = plain.pop("data", None) or {}
    stated = {name: value for name, value in written.items() if name != "source" and value != getattr(Data(), name)}
    if stated:
        plain["data"] = stated
    return plain


def from_dict(plain: dict[str, Any]) -> Spec:
    """Return the spec that plain objects describe.

    Raises:
        SchemaMismatch: naming the place of the first fault and what would be right there.
    """
    try:
        if place := too_large(plain):
            raise SchemaMismatch(readable(f"{place}: expected an integer below 2^63, as TOML has them", plain))
        return msgspec.convert(with_cap(plain), Spec)
    except msgspec.ValidationError as error:
        raise SchemaMismatch(first_fault(str(error), plain, Spec)) from None
    except RecursionError:
        raise SchemaMismatch("nested far too deep to be a specification") from None


Asked = Spec | str | Path | Mapping[str, Any]
"""A specification, its file, its TOML text, or plain objects."""


def spec_of(spec: Asked) -> Spec:
    """Return a specification as it is, or the one that a file, a text or plain objects hold; see `load_spec`.

    Raises:
        ValueError: it is nothing of these.
    """
    if isinstance(spec, Spec):
        return spec
    if isinstance(spec, (str, Path, Mapping)):
        return load_spec(spec)
    raise ValueError(
        "expected a Spec, as dpress.load_spec(...) reads it from a file, or a file, a text or a dict that holds one, "
        f"got {type(spec).__name__}"
    )


def load_spec(source: str | Path | Mapping[str, Any], *, release: Mapping[str, Any] | None = None) -> Spec:
    """Read a specification: a file, the TOML text itself (which has more than one line), or plain objects.

    Files that it names are looked up beside its own file, else in the working folder.

    Args:
        source: the specification.
        release: what stands for fields of `[release]` that it leaves out; without it, it must have what it needs.

    Raises:
        OSError: the file cannot be read.
        SchemaMismatch: it is not TOML, or a field, type or bound is wrong; the message names its place.

    >>> import dpress
    >>> age = {"name": "age", "kind": "integer", "bounds": [0, 99], "bins": 10}
    >>> plain = {"attribute": [age], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}
    >>> dpress.load_spec(plain).schema.shape
    (10,)
    """
    if isinstance(source, Mapping):
        return with_files(from_dict(_with_release(dict(source), release)), Path())
    if isinstance(source, str) and "\n" in source:
        return _read(source, "the specification", Path(), release)
    path = Path(source)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        wanted = "expected a specification or a design, got no text in UTF-8"
        raise SchemaMismatch(f"{path}: {wanted}{_no_spec(path)}") from None
    return _read(text, str(path), path.parent, release)


def _no_spec(name: str | Path) -> str:
    """Return how to begin a specification, where a file's name says that it holds something else."""
    begins = Path(name).suffix.lower() not in ("", ".toml", ".json")
    rows = f"; if it holds rows, `dpress init {name}` begins a specification of them"
    return f"{rows}; if reports, `dpress estimate DESIGN --reports {name}` counts them" if begins else ""


def _with_release(plain: dict[str, Any], release: Mapping[str, Any] | None) -> dict[str, Any]:
    stated = plain.get("release", {})
    return plain if release is None or not isinstance(stated, Mapping) else {**plain, "release": {**release, **stated}}


def _read(text: str, name: str, folder: Path, release: Mapping[str, Any] | None) -> Spec:
    plain = _with_release(_parsed(text, name), release)
    try:
        return with_files(from_dict(plain), folder)
    except SchemaMismatch as error:
        from dpress.data.specification.spec_lines import located  # noqa: PLC0415  # only a fault needs it

        raise SchemaMismatch(f"{name}: {located(str(error), text)}") from None


def _parsed(text: str, name: str) -> dict[str, Any]:
    if text.lstrip().startswith("{"):
        raise SchemaMismatch(f"{name}: a JSON object, as a design is; expected a specification, which is TOML")
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        from dpress.data.specification.toml_fault import meant  # noqa: PLC0415  # only a fault needs it

        raise SchemaMismatch(f"{name}: not a TOML file: {error}{meant(str(error), text)}{_no_spec(name)}") from None
    except ValueError:  # of `int`, which reads no such text
        raise SchemaMismatch(f"{name}: an integer of thousands of digits; expected one below 2^63") from None
