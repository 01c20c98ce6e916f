"""From what was typed to specifications: one for each wish. Never refuses: whoever reads them does, and says where.

draft, wish -> plain objects -> TOML.
"""

import contextlib
import math
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpress import catalog
from dpress.core.basics import check
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.kind import Wished
from dpress.data.sources.workbook_rows import WORKBOOKS
from dpress.data.specification.file_format import SEPARATORS, kind_of
from dpress.data.specification.toml import as_toml
from dpress.studio.draft import Column, Draft, Wish

SPECIFICATION = "the specification: "  # in front of what is refused of a text
LABEL = " = "  # between a value and its label
PLACE = "place"  # the name of a location, which is read from two columns
LISTED, CALENDAR = ("categorical", "ordinal"), ("date", "datetime")
SPENT = "0"  # a part of a budget of which nothing is left
SHARES = {"all": Fraction(1), "half": Fraction(1, 2), "tenth": Fraction(1, 10)}  # of what is left of the budget
DIGITS, MOST_DIGITS = 6, 15  # of an equal part of the budget, and of a share
DEEPEST = 16  # lists and tables in each other, of further parameters


def specification(draft: Draft, wish: Wish, budget: Mapping[str, str], folder: Path | None = None) -> str:
    """Return the specification of a wish as TOML.

    Args:
        draft: what was typed.
        wish: of this draft.
        budget: its part, as typed.
        folder: in which the text will be a file, beside which a relative source starts; left out, where we are.

    Raises:
        SchemaMismatch: the lines of TOML that were typed are none, or the choices that have no default are missing.
    """
    if not any(column.use for column in draft.columns):
        raise SchemaMismatch("$.attribute: look at the columns, and use at least one")
    plain = {
        "data": data_of(draft, folder),
        "attribute": [attribute(column) for column in draft.columns if column.use],
        "privacy": _privacy(draft, of_each_period(draft, wish, budget)),
        "periods": _periods(draft, wish),
        "release": _release(draft, wish),
    }
    return as_toml({section: fields for section, fields in plain.items() if fields is not None})


def of_each_period(draft: Draft, wish: Wish, budget: Mapping[str, str]) -> Mapping[str, str]:
    """Return the loss of one period of a wish: its part of the budget by the periods that one unit counts in.

    Twice as many where neighbours differ by what a row contains, which may leave one period for another. Periods are
    published under epsilon alone.
    """
    if not wish.periods:
        return budget
    persons = wish.per_unit if draft.unit == "person" else "1"
    times = (2 if draft.relation == "replace-one" else 1) * (int(persons) if persons.isdecimal() else 1)
    epsilon = budget.get("epsilon", "")
    with contextlib.suppress(ValueError):
        epsilon = decimal(check.exact("epsilon", epsilon) / max(1, times), MOST_DIGITS) if times > 1 else epsilon
    return {"epsilon": epsilon}


def _periods(draft: Draft, wish: Wish) -> dict[str, Any] | None:
    if not wish.periods:
        return None
    person = {"per_unit": _number(wish.per_unit)} if draft.unit == "person" else {}
    return {"attribute": wish.periods, "counter": wish.counter or None, **person}


def attribute(column: Column) -> dict[str, Any]:
    """Return the fields of an attribute; what was not typed is left out."""
    fields: dict[str, Any] = {"name": attribute_name(column), "kind": column.kind or None}
    if column.called.strip() not in ("", column.name):
        fields["column"] = column.name
    if column.kind in LISTED:
        rows = [line.split(LABEL, 1) for line in column.values.splitlines() if line.strip()]
        listed = [value.strip() for value, *_ in rows]
        fields["values"] = "discover" if listed == ["discover"] else listed or None
        fields["labels"] = {row[0].strip(): row[1].strip() for row in rows if len(row) > 1}
        fields["other"] = column.other or None
    elif column.kind == "location":
        fields.pop("column", None)
        fields["columns"] = [column.name, column.beside]
        fields["bounds"] = [_pair(column.low, column.high), _pair(column.low_beside, column.high_beside)]
        fields["bounds"] = None if fields["bounds"] == [None, None] else fields["bounds"]
    elif column.kind == "hierarchy":
        fields["column"], fields["file"] = column.name, column.tree.strip() or None
        fields["levels"] = [level.strip() for level in column.levels.split(",") if level.strip()] or None
        fields["other"] = column.other or None
    elif column.kind in CALENDAR:
        fields["bounds"] = [column.low, column.high] if column.low or column.high else None
        fields["cells"] = column.cells or None
        fields["zone"] = (column.zone or None) if column.kind == "datetime" else None
    else:
        fields["bounds"], fields["bins"] = _pair(column.low, column.high), _number(column.bins)
    if column.kind != "location":
        fields["null"] = column.missing or None
    fields["title"], fields["unit"] = column.title or None, None
    if column.kind in ("integer", "numeric"):
        fields["unit"] = column.measure or None
    return fields


def alone(column: Column) -> str:
    """Return a specification of one attribute, to be refused if that is none."""
    release = {"kind": catalog.wished()[0].kind}
    return as_toml({"attribute": [attribute(column)], "privacy": {"epsilon": 1}, "release": release})


def fault(refused: Exception) -> str:
    """Return a refusal of a specification for who did not write it: without the name and the lines of the text."""
    if isinstance(refused, OSError) and refused.strerror:
        return f"{refused.filename}: {refused.strerror}" if refused.filename else refused.strerror
    return str(refused).removeprefix(SPECIFICATION).partition(" (at line")[0]


def names_of(draft: Draft) -> list[str]:
    """Return the names of the attributes."""
    return [attribute_name(column) for column in draft.columns if column.use]


def attribute_name(column: Column) -> str:
    """Return the name of an attribute: as called, or its column's, if that is neither one of two nor a level's."""
    by_kind = {"location": PLACE, "hierarchy": f"{column.name}_code"}
    return column.called.strip() or by_kind.get(column.kind, column.name)


def part(whole: str, wanted: str, stated: Sequence[str]) -> str:
    """Return a wish's part of a budget: as stated, or an equal part of what others do not state, rounded down.

    What is no number stays as it was typed, and is refused where the specification is read.

    Args:
        whole: that is left for all wishes that are not published.
        wanted: what this wish states.
        stated: what each of them states, this one among them; empty where nothing.
    """
    if wanted.strip():
        return wanted.strip()
    try:
        budget = check.exact("epsilon", whole)
        if budget < 0:
            return whole.strip()
        left = budget - sum(check.exact("epsilon", text) for text in stated if text.strip())
        equal = left / max(1, sum(not text.strip() for text in stated))
    except ValueError:
        return whole.strip()
    return decimal(equal, DIGITS)


def stated(wanted: str, whole: str) -> str:
    """Return a wish's part as a number: of a share of what is left, that much; anything else as it was typed.

    >>> stated("half", "0.7"), stated("all", "3/5"), stated("0.2", "1"), stated("", "1")
    ('0.35', '0.6', '0.2', '')
    """
    if wanted not in SHARES:
        return wanted
    try:
        return decimal(check.exact("epsilon", whole) * SHARES[wanted], MOST_DIGITS)
    except ValueError:
        return whole.strip()


def spending(whole: str, epsilon: str) -> dict[str, float | None]:
    """Return what is left before a wish is published, and after; None where that is no number."""
    try:
        left = check.exact("epsilon", whole)
        after = max(Fraction(0), left - check.loss_parameter("epsilon", epsilon))
        return {"left": float(left), "after": float(after)}
    except (ValueError, OverflowError):
        return {"left": None, "after": None}


def decimal(amount: Fraction, digits: int) -> str:
    """Return an amount of a budget as a decimal, rounded down to so many digits."""
    if amount <= 0:
        return SPENT
    place = 0
    while amount * 10**place < 10 ** (digits - 1) and (amount * 10**place).denominator > 1:
        place += 1
    return _decimal(str(amount.numerator * 10**place // amount.denominator), place)


def _decimal(digits: str, place: int) -> str:
    if not place:
        return digits
    padded = digits.rjust(place + 1, "0")
    return f"{padded[:-place]}.{padded[-place:]}".rstrip("0").rstrip(".")


def data_of(draft: Draft, folder: Path | None = None) -> dict[str, Any]:
    """Return where the rows are, and how a file of text is written; None where nothing was typed."""
    source = draft.source.strip()
    if not source:
        return {}
    text = is_text(source)
    if folder is not None and "://" not in source:
        source = os.path.relpath(source, folder)
    fields: dict[str, Any] = {"source": source, "where": draft.where.strip() or None}
    if text or kind_of(Path(source.partition("#")[0])) in WORKBOOKS:
        lines = {"skip": draft.skip, "header_rows": draft.header_rows, "footer": draft.footer}
        fields |= {name: _number(typed) for name, typed in lines.items()}
    if text:
        missing = [word.strip() for word in draft.missing.split(",") if word.strip()]
        fields |= {
            "separator": {"tab": "\t"}.get(draft.separator, draft.separator) or None,
            "decimal": draft.decimal or None,
            "encoding": draft.encoding or None,
            "null_values": missing or None,
            "header": draft.names_in_first_line or None,
        }
    return fields


def is_text(source: str) -> bool:
    """Say whether a source is a file of text, by its name."""
    return kind_of(Path(source)) in SEPARATORS


def _privacy(draft: Draft, budget: Mapping[str, str]) -> dict[str, Any]:
    if draft.unit not in ("row", "person"):
        raise SchemaMismatch("$.privacy.unit: say whom you protect, a row or a person; there is no default")
    if draft.unit == "person" and not draft.person:
        raise SchemaMismatch("$.privacy.unit: choose the column that says whose row it is")
    if budget.get("epsilon") == SPENT:
        raise SchemaMismatch("$.privacy.epsilon: nothing of the budget is left for this wish")
    amounts = {name: _number(text) for name, text in budget.items()}
    unit = draft.person if draft.unit == "person" else "row"
    rows = {"rows_per_unit": _number(draft.rows_per_unit)} if draft.unit == "person" else {}
    return {"unit": unit, **rows, "relation": draft.relation or None, **amounts}


def _release(draft: Draft, wish: Wish) -> dict[str, Any]:
    words = {"title": draft.title, "source": draft.about, "contact": draft.contact, "license": draft.license}
    texts = {name: text.strip() for name, text in words.items() if text.strip()}
    if not wish.kind:  # statements say the rest
        return texts
    return {
        "kind": wish.kind,
        "attributes": [name for name in _about(wish) if name in names_of(draft)] or None,
        "parameters": _parameters(draft, wish),
        **texts,
    }


def _about(wish: Wish) -> list[str]:
    """Return the attributes of a wish; those of its fields where none are ticked and no line of TOML names more."""
    wished = _wished(wish)
    if wished is None or wished.of_attributes or wish.more.strip():
        return wish.attributes
    return list(dict.fromkeys(name for field in wished.fields for name in getattr(wish, field.name)))


def _wished(wish: Wish) -> Wished | None:
    """Return how the kind of a wish is offered; None where nobody offers it."""
    return next((wished for wished in catalog.wished() if wished.kind == wish.kind), None)


def _parameters(draft: Draft, wish: Wish) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if (wished := _wished(wish)) is not None:
        fields |= {"users": _number(draft.users)} if wished.users else {}
        for field in wished.fields:
            typed = getattr(wish, field.name)
            fields |= {field.name: _number(typed)} if field.choices else {field.name: typed} if typed else {}
    try:
        more = tomllib.loads(wish.more)
    except (ValueError, RecursionError) as error:
        raise SchemaMismatch(f"$.release.parameters: the further parameters are no lines of TOML: {error}") from None
    if _depth(more) > DEEPEST:
        raise SchemaMismatch(f"$.release.parameters: the further parameters are nested more than {DEEPEST} times")
    return fields | more


def _depth(plain: Any) -> int:
    """Return how often lists and tables are nested in each other, level by level, as no call can go so deep."""
    level, depth = [plain], 0
    while level := [member for node in level if isinstance(node, (dict, list)) for member in _members(node)]:
        depth += 1
    return depth


def _members(plain: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return plain.values() if isinstance(plain, dict) else plain


def _pair(low: str, high: str) -> list[Any] | None:
    """Return both bounds; an empty text for one that was not typed, None where neither was."""
    bounds = [_number(low), _number(high)]
    return None if bounds == [None, None] else ["" if bound is None else bound for bound in bounds]


def _number(text: str) -> int | float | str | None:
    """Return the number that a text writes; the text itself where it writes none, and None where it is empty."""
    typed = text.strip()
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            if math.isfinite(number := kind(typed)):
                return number
    return typed or None
