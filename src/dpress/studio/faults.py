"""What is missing or wrong in what was typed, each at the field that it is about.

draft, wish -> the fields that are empty and must not be; the line of a refusal -> the field that it names.
"""

import contextlib
import re
from collections.abc import Iterable, Iterator

import msgspec

from dpress import catalog
from dpress.core.basics import check
from dpress.data.specification.spec import load_spec
from dpress.studio import written
from dpress.studio.draft import Column, Draft, Wish
from dpress.studio.page_words import in_words

FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,40}")
NO_NAME = "expected a name of letters, digits, - and _, for the folder of the release"
NUMBERS = ("integer", "numeric", "location")
EVER = ("weekday", "month of year", "hour of day")  # cells that come again and need no bounds
VALUES = ("values", "list its values, one a line")
DAYS = (
    ("low", "type the first day that is counted, such as 2024-01-01"),
    ("high", "type the last day that is counted, such as 2024-12-31"),
)
BOUNDS = (
    ("low", "type a bound that nobody is below, such as 0"),
    ("high", "type a bound that nobody is above, such as 120"),
)
CELLS = ("cells", "choose what is counted: days, weeks, months")
ZONE = ("zone", "say whose clocks, such as Europe/Berlin")
BOX = (
    ("beside", "choose the column with the other coordinate"),
    ("low", "where the map begins, from an atlas"),
    ("high", "where the map ends, from an atlas"),
    ("low_beside", "where the map begins, from an atlas"),
    ("high_beside", "where the map ends, from an atlas"),
)
TREE = (("levels", "name its levels, coarse to fine"), ("tree", "name the public file of all codes"))
NEEDED = {
    "": (("kind", "choose what it is"),),
    "categorical": (VALUES,),
    "ordinal": (VALUES,),
    "integer": BOUNDS,
    "numeric": (*BOUNDS, ("bins", "say in how many bins it is counted, such as 20")),
    "date": (CELLS, *DAYS),
    "datetime": (CELLS, *DAYS, ZONE),
    "location": BOX,
    "hierarchy": TREE,
}
OF_COLUMN = {
    "name": "called",
    "unit": "measure",
    "column": "called",
    "null": "missing",
    "labels": "values",
    "file": "tree",
    "columns": "beside",
}
OF_DATA = {"null_values": "missing", "header": "names_in_first_line"}
OF_RELEASE = {"source": "about"}
SIDES = {(1,): "low", (2,): "high", (1, 1): "low", (1, 2): "high", (2, 1): "low_beside", (2, 2): "high_beside"}


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is missing or wrong.

    Args:
        at: the field: a member of the draft, or `columns/NAME/member`, or `wishes/NAME/member`; empty where none is.
        line: what would be right.
        empty: whether nothing was typed there.
    """

    at: str
    line: str
    empty: bool = False


def of_columns(draft: Draft) -> list[Fault]:
    """Return what is missing or wrong in the columns that are used, each looked at by itself."""
    return [fault for column in draft.columns if column.use for fault in _of_column(column)]


def missing(draft: Draft, wish: Wish, left: str) -> list[Fault]:
    """Return what else must be typed before a wish can be planned, in the order of the page.

    Args:
        draft: what was typed.
        wish: of this draft.
        left: of the budget, before this wish.
    """
    lines = []
    if not any(column.use for column in draft.columns):
        lines.append(("columns" if draft.columns else "source", "look at the columns, and use at least one"))
    lines += [*_of_unit(draft), *((f"wishes/{wish.name}/{member}", line) for member, line in _of_wish(wish))]
    if not left.strip() and not wish.epsilon.strip():
        lines.append(("epsilon", "state the budget of all wishes, such as 1"))
    return [Fault(at=at, line=line, empty=True) for at, line in lines]


def wrong(draft: Draft, wish: Wish, left: str) -> list[Fault]:
    """Return what no specification refuses: a name that is no folder's, and more than is left of the budget."""
    faults = []
    if wish.name and not FILE_NAME.fullmatch(wish.name):
        faults.append(Fault(at=f"wishes/{wish.name}/name", line=NO_NAME))
    if sum(other.name == wish.name for other in draft.wishes) > 1:
        faults.append(Fault(at=f"wishes/{wish.name}/name", line="several wishes are called so; rename one"))
    try:
        whole, wanted = check.exact("epsilon", left), check.exact("epsilon", wish.epsilon)
    except ValueError:
        return faults
    if wanted > whole:
        line = f"asks for {wish.epsilon} of the budget, of which {written.decimal(whole, written.DIGITS)} is left"
        faults.append(Fault(at=f"wishes/{wish.name}/epsilon", line=line))
    return faults


def of_refusal(line: str, draft: Draft, name: str = "") -> Fault:
    """Return a refusal's line at the field that it names, without the place in the specification.

    Args:
        line: as specifications, plans and sources refuse.
        draft: what was typed.
        name: of the wish that it is about.
    """
    of_data = (_of_rows, _absent, _file_of)
    fields = [_field_of(line, draft, name)] if line.startswith("$.") else [field(line, draft) for field in of_data]
    at = next(filter(None, fields), "")
    return Fault(at=at, line=in_words(line.partition(": ")[2] or line if at else line))


def _of_column(column: Column) -> Iterable[Fault]:
    """Return the fields that are empty, else bounds that are turned, else what a specification refuses."""
    return list(_empty(column)) or list(_turned(column)) or list(_refused(column))


def _refused(column: Column) -> Iterator[Fault]:
    try:
        load_spec(written.alone(column))
    except (ValueError, OSError) as error:
        yield of_refusal(written.fault(error), Draft(columns=[column]))


def _empty(column: Column) -> Iterator[Fault]:
    for member, line in NEEDED.get(column.kind, ()):
        needless = column.kind in written.CALENDAR and column.cells in EVER and member in ("low", "high")
        if not getattr(column, member).strip() and not needless:
            yield Fault(at=f"columns/{column.name}/{member}", line=line, empty=True)


def _turned(column: Column) -> Iterator[Fault]:
    """Yield the upper bound of a number that lies below the lower one."""
    for low, high in (("low", "high"), ("low_beside", "high_beside")):
        with contextlib.suppress(ValueError):
            if column.kind in NUMBERS and float(getattr(column, low)) > float(getattr(column, high)):
                line = f"expected a bound above {getattr(column, low)}"
                yield Fault(at=f"columns/{column.name}/{high}", line=line)


def _of_unit(draft: Draft) -> Iterator[tuple[str, str]]:
    if draft.unit not in ("row", "person"):
        yield "unit", "say whom you protect, a row or a person; there is no default"
    if draft.unit == "person" and not draft.person:
        yield "person", "choose the column that says whose row it is"
    if draft.unit == "person" and not draft.rows_per_unit.strip():
        yield "rows_per_unit", "say at most how many rows of each person count, such as 1"


def _of_wish(wish: Wish) -> Iterator[tuple[str, str]]:
    if not wish.name:
        yield "name", "name it: its folder and files are called so"
    if not wish.kind and not wish.sql.strip():
        yield "sql", "write a statement, such as select count(*) from people"
    wished = next((wished for wished in catalog.wished() if wished.kind == wish.kind), None)
    if wished is None or wish.more.strip():
        return
    fields = [field.name for field in wished.fields]
    if not wished.of_attributes and not any(getattr(wish, field) for field in fields):
        yield fields[0], "tick at least one attribute, here or below"
    if wished.lines:
        yield "more", 'write what you ask, such as queries = ["age >= 65 or sex = f"]'


def _field_of(line: str, draft: Draft, name: str) -> str:
    """Return the field that a line names; empty where it names none."""
    for column in draft.columns:
        if column.use and line.startswith(f"$.attribute[{written.attribute_name(column)}]"):
            rest = line.removeprefix(f"$.attribute[{written.attribute_name(column)}]")
            of_file = column.tree.strip() and column.tree.strip() in rest
            return f"columns/{column.name}/{'tree' if of_file else _member(rest)}"
    section, _, rest = line.partition(":")[0].removeprefix("$.").partition(".")
    word = _first(rest) or _first(re.findall(r"`(\w+)`", line))
    if section == "data":
        return OF_DATA.get(word, word) if OF_DATA.get(word, word) in Draft.__struct_fields__ else "source"
    if section == "privacy":
        return _of_privacy(word, draft, name)
    if section == "periods":
        return f"wishes/{name}/{word if word in ('counter', 'per_unit') else 'periods'}"
    return _of_release(word, rest, name) if section == "release" else ""


def _of_rows(line: str, draft: Draft) -> str:
    """Return the field that says what becomes of a value of the rows that has no cell; empty for another line."""
    for column in draft.columns:
        start = f"attribute {written.attribute_name(column)}"
        if column.use and line.startswith(f"{start}: "):
            return f"columns/{column.name}/{_member(line.removeprefix(start))}"
    return ""


def _absent(line: str, draft: Draft) -> str:
    """Return the field that names a column which the rows do not have; empty for another line."""
    absent = re.search(r"has no column '(.+?)'", line)
    if absent is None:
        return ""
    if absent[1] == draft.person:
        return "person"
    return "where" if re.search(rf"\b{re.escape(absent[1])}\b", draft.where) else ""


def _file_of(line: str, draft: Draft) -> str:
    """Return the field whose file a line begins with; empty where there is none."""
    trees = [column for column in draft.columns if column.tree and line.startswith(f"{column.tree}:")]
    if trees:
        return f"columns/{trees[0].name}/tree"
    return "source" if draft.source.strip() and line.startswith(draft.source.strip()) else ""


def _member(rest: str) -> str:
    """Return the member of a column that the rest of a line is about, such as `.bounds[#2]: ...`."""
    path, _, words = rest.partition(":")
    word = _first(path) or _first(re.findall(r"`(\w+)`", words))
    if word == "bounds":
        return SIDES.get(tuple(map(int, re.findall(r"#(\d)", path))), "low")
    member = OF_COLUMN.get(word, word)
    return member if member in Column.__struct_fields__ else "kind"


def _of_privacy(word: str, draft: Draft, name: str) -> str:
    if word == "unit":
        return "person" if draft.unit == "person" else "unit"
    if word in ("rows_per_unit", "relation", "delta"):
        return word
    stated = any(wish.name == name and wish.epsilon.strip() for wish in draft.wishes)
    return f"wishes/{name}/epsilon" if stated else "epsilon"


def _of_release(word: str, rest: str, name: str) -> str:
    if OF_RELEASE.get(word, word) in Draft.__struct_fields__:
        return OF_RELEASE.get(word, word)
    if word == "attributes":
        return f"wishes/{name}/attributes"
    parameter = rest.removeprefix("parameters").removeprefix(".")
    if parameter == "users":
        return "users"
    offered = {field.name for wished in catalog.wished() for field in wished.fields}
    return f"wishes/{name}/{parameter if parameter in offered else 'more'}"


def _first(words: str | Iterable[str]) -> str:
    """Return the first word of a path or a list; empty where there is none."""
    listed = re.findall(r"\w+", words) if isinstance(words, str) else list(words)
    return listed[0] if listed else ""
