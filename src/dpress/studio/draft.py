"""What a person has typed so far, as it was typed: complete or not, right or wrong."""

from dataclasses import asdict
from typing import Annotated

import msgspec

from dpress import catalog
from dpress.data.sources.declared import Declared
from dpress.data.sources.first_bytes import Proposal

MOST = 100  # wishes, each of which is looked at after every key


class Column(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A column of the source, and what its attribute's fields hold; `docs/reference/spec.md` says what they mean.

    Args:
        name: of the column.
        type: that the source declares.
        use: whether it becomes an attribute.
        called: the attribute's name, in queries and files; empty for the column's.
        kind: of attribute.
        title: what pages call it.
        measure: the unit of its numbers.
        values: one a line, `value` or `value = label`.
        other: the name of the cell for what is not listed; empty refuses the table.
        low: the lower bound, or the first day.
        high: the upper bound, or the last day.
        bins: how many; empty for one cell an integer.
        cells: of the calendar.
        zone: of the clocks.
        missing: the name of the cell for missing values; empty refuses the table.
        beside: of a location, the column with the other coordinate.
        low_beside: the lower bound of that column.
        high_beside: its upper bound.
        levels: of codes, coarse to fine, separated by commas: the columns of `tree`.
        tree: the file with all codes, a row a leaf.
    """

    name: str
    type: str = ""
    use: bool = False
    called: str = ""
    kind: str = ""
    title: str = ""
    measure: str = ""
    values: str = ""
    other: str = ""
    low: str = ""
    high: str = ""
    bins: str = ""
    cells: str = ""
    zone: str = ""
    missing: str = ""
    beside: str = ""
    low_beside: str = ""
    high_beside: str = ""
    levels: str = ""
    tree: str = ""


class Wish(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Something to publish.

    Args:
        name: of its files.
        kind: of release; empty where statements of SQL take its place.
        sql: these statements.
        attributes: that it is about.
        by: the groups, where the kind has any (`core.basics.kind.WishField`).
        mean: the attributes whose means are wanted.
        median: the attributes whose medians are wanted.
        ways: how many attributes each table has.
        more: further parameters, lines of TOML.
        periods: the attribute of dates whose cells are published one after the other; empty where it is published once.
        counter: which spans of periods are measured.
        per_unit: in how many periods a person counts.
        epsilon: its part of the budget, a number or a share of what is left ("all", "half", "tenth"); empty for an
            equal part.
    """

    name: str
    kind: str = msgspec.field(default_factory=lambda: catalog.wished()[0].kind)
    sql: str = ""
    attributes: list[str] = []
    by: list[str] = []
    mean: list[str] = []
    median: list[str] = []
    ways: str = "1"
    more: str = ""
    periods: str = ""
    counter: str = "separate"
    per_unit: str = "1"
    epsilon: str = ""


class Draft(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """All of it; `dpress studio` keeps it as JSON beside what it publishes.

    Args:
        source: a file, a folder, a glob, or a table of a database.
        names_in_first_line: of a file of text: the first line has the names, and may be shown.
        separator: of a file of text.
        decimal: of a file of text.
        encoding: of a file of text.
        missing: what stands for a missing value there, separated by commas.
        skip: lines before that of the names, of a file of text or a sheet.
        header_rows: lines of names.
        footer: lines behind the rows.
        where: a public condition on the rows; empty for all.
        columns: of the source.
        unit: "row" or "person"; empty before somebody decided.
        person: the column that names the person.
        rows_per_unit: the most rows a person keeps.
        relation: of neighbouring tables.
        users: about how many people, or records, there are; public.
        epsilon: the budget of all wishes together.
        delta: the same, where a method needs one.
        wishes: what to publish.
        title: of the pages.
        about: the source, for people.
        contact: whom to ask.
        license: of what is published.
    """

    source: str = ""
    names_in_first_line: bool = False
    separator: str = ""
    decimal: str = ""
    encoding: str = ""
    missing: str = ""
    skip: str = ""
    header_rows: str = ""
    footer: str = ""
    where: str = ""
    columns: list[Column] = []
    unit: str = ""
    person: str = ""
    rows_per_unit: str = "1"
    relation: str = "add-remove"
    users: str = "10000"
    epsilon: str = "1"
    delta: str = ""
    wishes: Annotated[list[Wish], msgspec.Meta(max_length=MOST)] = []
    title: str = ""
    about: str = ""
    contact: str = ""
    license: str = ""


def with_proposal(draft: Draft, proposal: Proposal) -> Draft:
    """Return a draft that says how its file is probably written; what was typed stays."""
    usual = Proposal(encoding="", separator="")
    looks = {name: str(value) for name, value in asdict(proposal).items() if value != getattr(usual, name)}
    if looks.get("separator") == "\t":
        looks["separator"] = "tab"
    return msgspec.structs.replace(draft, **{name: getattr(draft, name) or value for name, value in looks.items()})


def with_columns(draft: Draft, declared: list[Declared]) -> Draft:
    """Return a draft with the columns of its source; what was typed of a column that is still there stays."""
    typed = {kept.name: kept for kept in draft.columns}
    columns = [typed.get(declaration.name) or column(declaration) for declaration in declared]
    return msgspec.structs.replace(draft, columns=columns)


def column(declaration: Declared) -> Column:
    """Return a column of which nothing was typed: its declared type, and its source's own dictionary."""
    fields = asdict(declaration)
    values = "\n".join(fields.pop("labels"))
    return Column(**fields, values=values)
