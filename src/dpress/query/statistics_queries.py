"""Queries for statistics: `mean age where sex = f`, `share sex = f where ward = eyes`, `count A - count B`.

A condition alone means a count, also where an attribute is called like a statistic (`query_language`).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from dpress.attributes.domain import Schema
from dpress.attributes.numbers.attribute import Number
from dpress.query.query_language import no_attribute
from dpress.query.query_words import QUOTED, any_name, beginning, unquoted

Of = Literal["mean", "sum", "quantile", "share", "ratio", "difference", "circular mean", "resultant length"]
FORMS = {
    "mean": "`mean NAME` or `mean NAME where CONDITIONS`",
    "sum": "`sum NAME` or `sum NAME where CONDITIONS`",
    "median": "`median NAME` or `median NAME where CONDITIONS`",
    "quantile": "`quantile 0.9 of NAME` or `quantile 0.9 of NAME where CONDITIONS`",
    "share": "`share CONDITIONS` or `share CONDITIONS where CONDITIONS`",
    "ratio": "`ratio CONDITIONS / CONDITIONS`",
    "circular": "`circular mean NAME` or `circular mean NAME where CONDITIONS`",
    "resultant": "`resultant length NAME` or `resultant length NAME where CONDITIONS`",
    "count": "`count CONDITIONS - count CONDITIONS`",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """What is asked of a release beside a count.

    Args:
        of: which statistic.
        attribute: whose mean, sum or quantile.
        level: of a quantile, strictly between 0 and 1.
        first: the conditions whose rows are a share, the numerator of a ratio, or what is subtracted from.
        second: the conditions of a ratio's denominator, or of what is subtracted.
        where: the conditions of the rows that it is about; None for all.
    """

    of: Of
    attribute: str = ""
    level: float = 0.5
    first: str = ""
    second: str = ""
    where: str | None = None

    @property
    def text(self) -> str:
        """The query that asks for it."""
        group = f" where {self.where}" if self.where is not None else ""
        if self.of == "quantile":
            word = "median" if self.level == 0.5 else f"quantile {self.level:g} of"
            return f"{word} {self.attribute}{group}"
        if self.of == "ratio":
            return f"ratio {self.first} / {self.second}"
        if self.of == "difference":
            return f"count {self.first} - count {self.second}"
        return f"{self.of} {self.attribute or self.first}{group}"


def read(schema: Schema, text: str) -> Statistic | None:
    """Return the statistic that a query asks for; None where it is conditions, or `total`, and so asks for a count.

    Raises:
        ValueError: it starts as a statistic does and goes on otherwise, or names what has no such statistic.
    """
    if not isinstance(text, str) or _is_condition(schema, text):
        return None
    word, _, rest = text.strip().partition(" ")
    if (reader := READERS.get(word.lower())) is None:
        return None
    if not rest.strip():
        raise ValueError(f"cannot read {text!r}; write {FORMS[word.lower()]}")
    found = reader(schema, rest.strip())
    check(schema, found)
    return found


def check(schema: Schema, asked: Statistic) -> None:
    """Refuse a statistic of what is no number, and a level that is none.

    Raises:
        ValueError: the message names the attribute or the level and what would be right.
    """
    if not isinstance(asked.level, int | float) or not 0 < asked.level < 1:
        raise ValueError(f"quantile: expected a level strictly between 0 and 1, got {asked.level}")
    if asked.of in ("share", "ratio", "difference"):
        return
    if asked.attribute not in schema.names:
        raise ValueError(no_attribute(schema, asked.attribute))
    own = schema.attribute(asked.attribute)
    if not isinstance(own, Number):
        kind = type(own).__name__.lower()
        raise ValueError(
            f"{asked.of} of {own.name}: expected an integer or numeric attribute, {own.name} is {kind}; "
            f"ask for `share {own.name} = VALUE`"
        )


def _is_condition(schema: Schema, text: str) -> bool:
    return bool(re.match(rf"\s*{beginning(schema.names)}", text))


def _split(text: str, separator: str) -> list[str]:
    """Return the parts of a text around a separator, a pattern, that stands outside quotes."""
    parts, begin = [], 0
    for match in re.finditer(rf"{QUOTED}|{separator}", text):
        if match[0][0] not in "'\"":
            parts.append(text[begin : match.start()].strip())
            begin = match.end()
    return [*parts, text[begin:].strip()]


def _where(text: str, form: str) -> tuple[str, str | None]:
    """Return what stands before and behind `where`."""
    first, *rest = _split(text, r"(?:^|(?<=\s))where(?=\s|$)")
    if len(rest) > 1 or not first:
        raise ValueError(f"cannot read {text!r}; write {FORMS[form]}")
    if rest and not rest[0]:
        raise ValueError(f"`where` needs a condition behind it; write {FORMS[form]}")
    return first, rest[0] if rest else None


def _of_attribute(of: Of) -> Callable[[Schema, str], Statistic]:
    def reader(schema: Schema, rest: str) -> Statistic:
        attribute, where = _named(schema, rest, of)
        return Statistic(of=of, attribute=attribute, where=where)

    return reader


def _of_circle(of: Literal["circular mean", "resultant length"]) -> Callable[[Schema, str], Statistic]:
    form, second = of.split()

    def reader(schema: Schema, rest: str) -> Statistic:
        word, _, own = rest.partition(" ")
        if word != second or not own.strip():
            raise ValueError(f"cannot read '{form} {rest}'; write {FORMS[form]}")
        attribute, where = _named(schema, own.strip(), form)
        return Statistic(of=of, attribute=attribute, where=where)

    return reader


def _median(schema: Schema, rest: str) -> Statistic:
    attribute, where = _named(schema, rest, "median")
    return Statistic(of="quantile", attribute=attribute, where=where)


def _quantile(schema: Schema, rest: str) -> Statistic:
    level, *name = _split(rest, r"\sof\s")
    try:
        number = float(level)
    except ValueError:
        raise ValueError(f"cannot read {level!r} as the level of a quantile; write {FORMS['quantile']}") from None
    if not name:
        raise ValueError(f"cannot read 'quantile {rest}'; write {FORMS['quantile']}")
    attribute, where = _named(schema, " of ".join(name), "quantile")
    return Statistic(of="quantile", attribute=attribute, level=number, where=where)


def _named(schema: Schema, text: str, form: str) -> tuple[str, str | None]:
    """Return an attribute and the conditions behind `where`; a name that holds the word itself goes first."""
    if found := re.match(rf"({any_name(schema.names)})(?:$|\s+where(?:\s|$))", text):
        written = found[1]
        name = written if written in schema.names else unquoted(written)
        return name, None if text == written else _where(f"it{text[len(written) :]}", form)[1]
    name, where = _where(text, form)
    return unquoted(name), where


def _share(schema: Schema, rest: str) -> Statistic:
    del schema
    first, where = _where(rest, "share")
    return Statistic(of="share", first=first, where=where)


def _ratio(schema: Schema, rest: str) -> Statistic:
    del schema
    first, second = _two(_split(rest, r"\s/\s"), "ratio", rest)
    return Statistic(of="ratio", first=first, second=second)


def _difference(schema: Schema, rest: str) -> Statistic:
    del schema
    first, second = _two(_split(rest, r"\s-\s+count(?=\s|$)"), "count", rest)
    return Statistic(of="difference", first=first, second=second)


def _two(parts: list[str], form: str, rest: str) -> tuple[str, str]:
    if len(parts) != 2 or not all(parts):
        raise ValueError(f"cannot read '{form} {rest}'; write {FORMS[form]}")
    return parts[0], parts[1]


READERS: dict[str, Callable[[Schema, str], Statistic]] = {
    "mean": _of_attribute("mean"),
    "sum": _of_attribute("sum"),
    "median": _median,
    "quantile": _quantile,
    "share": _share,
    "ratio": _ratio,
    "circular": _of_circle("circular mean"),
    "resultant": _of_circle("resultant length"),
    "count": _difference,
}
