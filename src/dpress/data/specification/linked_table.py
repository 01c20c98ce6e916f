"""`[[table]]` of a specification: two tables that belong together, households above and persons below. All public."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from dpress.core.basics.database_url import check_no_password
from dpress.data.specification.file_format import beside

NAME = re.compile(r"[A-Za-z]\w{0,59}")  # which is a file's, too
DERIVED = re.compile(r"(?P<word>count|sum|first)(?:\s+(?P<column>(?!where\b)\S+))?(?:\s+where\s+(?P<where>.+))?")
FORMS = '"count", "sum COLUMN" or "first COLUMN", with `where CONDITION` behind it or without'


class Derived(msgspec.Struct, frozen=True, kw_only=True):
    """A column of households that their persons make.

    Args:
        word: how many persons, the sum of their numbers, or the value of the first.
        column: of the persons; empty for a count.
        where: which persons; empty for all.
    """

    word: Literal["count", "sum", "first"]
    column: str
    where: str


def derived(text: str) -> Derived:
    """Return what a text says of a column.

    Raises:
        ValueError: it says nothing of the kind.

    >>> derived("sum income where age >= 16")
    Derived(word='sum', column='income', where='age >= 16')
    """
    match = DERIVED.fullmatch(text.strip())
    if match is None or (match["word"] == "count") != (match["column"] is None):
        raise ValueError(f"expected {FORMS}, got {text!r:.80}")
    return msgspec.convert({name: value or "" for name, value in match.groupdict().items()}, Derived)


class LinkedTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of two tables that belong together.

    Args:
        name: of the table, and of its file where records of both are made.
        source: its rows; what is handed to a program overrides it.
        key: the columns that name the household.
        derived: columns of households that their persons make, by name: "count where age < 16", "sum income",
            "first age".
        of: the table above, whose rows have several of this one's; left out for the table above itself.
        most: rows of a household that count, the first in `order`.
        order: what comes first: conditions, whose persons come first, and columns, with - in front the largest first.
            The order of the rows where it is left out, and of equals.
        attributes: those of this table, where records of both are made.
    """

    name: str
    source: str = ""
    key: str | Annotated[tuple[str, ...], Meta(min_length=1)]
    derived: dict[str, str] = {}
    of: str | UnsetType = UNSET
    most: Annotated[int, Meta(ge=1, le=50)] | UnsetType = UNSET
    order: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no file can be called, a place that nobody may keep, and columns that nothing makes."""
        from dpress.core.basics.taken_names import taken  # noqa: PLC0415  # few have any

        if not NAME.fullmatch(self.name) or taken(self.name):
            wanted = "at most 60 letters, digits and _, and no other file's name of a release, such as records"
            raise ValueError(f".name: expected {wanted}, got {self.name!r:.60}")
        if len({*self.keys}) != len(self.keys):
            raise ValueError(".key: expected different columns, got one of them twice")
        check_no_password(self.source, "the rows")
        for name, text in self.derived.items():
            try:
                derived(text)
            except ValueError as error:
                raise ValueError(f".derived.{name}: {error}") from None
        below = {"most": self.most is not UNSET, "order": bool(self.order), "attributes": bool(self.attributes)}
        for name, stated in below.items():
            if stated and self.of is UNSET:
                raise ValueError(f".{name}: only of the table below, which names the one above in `of`")
        if self.of is not UNSET and (self.most is UNSET or self.derived):
            field, wanted = ("most", "how many of its rows a row above has at most, got nothing")
            field, wanted = ("derived", "only of the table above") if self.derived else (field, f"expected {wanted}")
            raise ValueError(f".{field}: {wanted}")

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of the key."""
        return (self.key,) if isinstance(self.key, str) else self.key

    def beside(self, folder: Path) -> "LinkedTable":
        """Return the table with the place of its rows as seen from a folder."""
        return msgspec.structs.replace(self, source=beside(self.source, folder))


class LinkedTables(msgspec.Struct, frozen=True, kw_only=True):
    """Two tables that belong together, and whose rows are those of a release.

    Args:
        above: households.
        below: persons.
        rows: the name of the table whose rows are counted; empty where records of both are made.
    """

    above: LinkedTable
    below: LinkedTable
    rows: str

    @property
    def most(self) -> int:
        """How many rows below one above has at most."""
        return self.below.most or 1

    @property
    def of_persons(self) -> bool:
        """Whether a row of the release is a person."""
        return self.rows == self.below.name

    @property
    def both(self) -> bool:
        """Whether records of both tables are made."""
        return not self.rows

    @property
    def source(self) -> dict[str, str] | None:
        """The rows of both by the tables' names; None where one names none."""
        sources = {table.name: table.source for table in (self.above, self.below)}
        return sources if all(sources.values()) else None

    def protects_households(self, unit: Sequence[str]) -> bool:
        """Return whether the columns that name whom a promise protects name households."""
        return {*unit} == {*self.above.keys}

    def check_names(self, named: Sequence[str], released: Sequence[str]) -> None:
        """Refuse attributes that are none, and columns of records of both tables that would stand for two things.

        Args:
            named: the names of all attributes.
            released: the names of their attributes.
        """
        below = {*self.below.attributes}
        if strays := sorted(below - {*named}):
            raise ValueError(f".table[{self.below.name}].attributes: there is no attribute {strays[0]!r}")
        made = {self.below.name, *(f"{name}_{slot}" for name in below for slot in range(1, self.most + 1))}
        if twice := sorted(made & {*self.above.derived}) if self.both else ():
            raise ValueError(
                f".table[{self.above.name}].derived.{twice[0]}: records of both tables have this column, rename it"
            )
        for name in released if self.both else ():
            keys = self.below.keys if name in below else self.above.keys
            if name in keys:
                raise ValueError(
                    f".attribute[{name}].name: a column of the key, where records have made-up numbers; give the "
                    f'attribute another name, with column = "{name}"'
                )

    def check_unit(self, unit: Sequence[str], rows: int) -> None:
        """Refuse a promise that the rows of the release cannot keep.

        Args:
            unit: the columns that name whom it protects; none for a row.
            rows: that it lets one of them have.
        """
        household = ", ".join(self.above.keys)
        if not unit:
            raise ValueError(
                f".privacy.unit: expected whom two tables protect, got rows: households, by {household}, or with "
                f'rows = "{self.below.name}" in [data] persons, by the columns that name one'
            )
        if self.protects_households(unit):
            cap = self.most if self.of_persons else 1
            if rows != cap:
                raise ValueError(
                    f".privacy.rows_per_unit: expected {cap}, which `most` of [[table]] says; leave it out"
                )
            return
        if not self.of_persons:
            raise ValueError(
                f".privacy.unit: a household's row is of all its persons: protect households, by {household}, or count "
                f'persons, rows = "{self.below.name}" in [data]'
            )
        if self.above.derived:
            raise ValueError(
                f".table[{self.above.name}].derived: a person changes what the others of a household get, so that no "
                f"promise for single persons holds; protect households, by {household}, or leave `derived` out"
            )


def linked(tables: Sequence[LinkedTable], rows: str) -> LinkedTables | None:
    """Return two tables that belong together; None without any.

    Args:
        tables: of a specification.
        rows: that [data] names.

    Raises:
        ValueError: they are not two of which one is of the other.
    """
    if not tables:
        if rows:
            raise ValueError(".data.rows: names one of two [[table]], and there are none")
        return None
    if len(tables) != 2 or len({table.name.casefold() for table in tables}) != 2:  # which are names of files
        raise ValueError(f".table: expected two of different names, households and persons, got {len(tables)}")
    above, below = sorted(tables, key=lambda table: table.of is not UNSET)
    if above.of is not UNSET or below.of != above.name:
        names = " or ".join(repr(table.name) for table in tables)
        raise ValueError(f".table: expected `of` in the one below, with the name of the one above: {names}")
    if len(above.keys) != len(below.keys):
        raise ValueError(f".table[{below.name}].key: expected as many columns as that of {above.name} has")
    if not rows and not below.attributes:
        wanted = "which attributes are of its rows, or `rows` in [data]"
        raise ValueError(f".table[{below.name}].attributes: expected {wanted}")
    if rows not in ("", above.name, below.name):
        raise ValueError(f".data.rows: expected {above.name} or {below.name}, got {rows!r}")
    return LinkedTables(above=above, below=below, rows=rows)


def with_cap(plain: dict[str, Any]) -> dict[str, Any]:
    """Return a specification as plain objects with the rows that a household of two tables has at most.

    `most` says it; whatever is no such specification stays as it is, and is refused where it is read.
    """
    tables, privacy, data = (plain.get(name) for name in ("table", "privacy", "data"))
    named = [table for table in tables or () if isinstance(table, Mapping)] if isinstance(tables, list | tuple) else []
    if not named or not isinstance(privacy, Mapping) or "rows_per_unit" in privacy or not isinstance(data, Mapping):
        return plain
    below = next((table for table in named if "of" in table and table.get("name") == data.get("rows")), {})
    keys = [_listed(table.get("key")) for table in named if "of" not in table]
    if "most" not in below or _listed(privacy.get("unit")) not in keys:
        return plain
    return {**plain, "privacy": {**privacy, "rows_per_unit": below["most"]}}


def _listed(names: Any) -> Any:
    """Return names in an order that does not matter; whatever is no list of them as it is."""
    return [names] if isinstance(names, str) else sorted(map(str, names)) if isinstance(names, list | tuple) else names
