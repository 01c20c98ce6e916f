"""Reads queries: `mean age where sex = f by ward`, `count A - count B`, or conditions alone, which are counted.

text -> `query_tree.Query`; the grammar stands in `docs/reference/queries.md`. A text that begins as a condition does is
one, also where an attribute is called like a statistic.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from dpress.query.condition_grammar import Names, conditions, no_attribute
from dpress.query.query_tree import TOTAL, Condition, Of, Query
from dpress.query.query_words import QUOTED, any_name, beginning, begins_relation, hint_for, parts, unquoted

WHERE = r"(?:^|(?<=\s))where(?=\s|$)"
GRAMMAR = ("in", "of", "by", "where", "and", "or", "not", "=", "is", "between")  # words that are no attribute here
CONTRASTED = ("mean", "share")
CONTRASTS = (
    "`mean NAME where CONDITIONS - mean NAME where CONDITIONS`, or "
    "`share CONDITIONS where CONDITIONS - share CONDITIONS where CONDITIONS`"
)
FORMS = {
    "mean": "`mean NAME` or `mean NAME where CONDITIONS`",
    "sum": "`sum NAME` or `sum NAME where CONDITIONS`",
    "median": "`median NAME` or `median NAME where CONDITIONS`",
    "quantile": "`quantile 0.9 of NAME` or `quantile 0.9 of NAME where CONDITIONS`",
    "share": "`share CONDITIONS` or `share CONDITIONS where CONDITIONS`",
    "ratio": "`ratio CONDITIONS / CONDITIONS` or `ratio sum NAME / sum NAME`",
    "circular": "`circular mean NAME` or `circular mean NAME where CONDITIONS`",
    "resultant": "`resultant length NAME` or `resultant length NAME where CONDITIONS`",
    "variance": "`variance NAME` or `variance NAME where CONDITIONS`",
    "count": "`count CONDITIONS`, `count where CONDITIONS` or `count CONDITIONS - count CONDITIONS`",
}


def read(names: Names, text: str) -> Query:
    """Return what a text asks for.

    Args:
        names: of the attributes.
        text: the query.

    Raises:
        ValueError: it cannot be read; the message says what would be right.
    """
    if not isinstance(text, str) or re.match(rf"\s*{beginning(names)}", text):
        return Query(of="count", first=conditions(names, text))
    if (contrast := _contrast(names, text)) is not None:
        return contrast
    word, _, rest = text.strip().partition(" ")
    if (reader := READERS.get(word.lower())) is not None:
        if not rest.strip() and word.lower() != "count":
            raise ValueError(f"cannot read {text!r}; write {FORMS[word.lower()]}")
        return reader(names, rest.strip())
    if begins_relation(text):
        return _relation(names, text.strip())
    return _of_words(names, text.strip()) or Query(of="count", first=conditions(names, text))


def _contrast(names: Names, text: str) -> Query | None:
    """Return the difference of two means or shares of different rows; None of what is no difference of such.

    Raises:
        ValueError: it cannot be read.
    """
    sides = parts(text, rf"\s-\s+(?=(?:{'|'.join(CONTRASTED)})\s)")
    words = [side.partition(" ")[0].lower() for side in sides]
    if len(sides) < 2 or words[0] not in CONTRASTED:
        return None
    if len(sides) > 2 or words[0] != words[1]:
        raise ValueError(f"cannot read {text!r}; write {CONTRASTS}")
    first, second = (read(names, side) for side in sides)
    if first.by or first.attribute != second.attribute:
        raise ValueError(f"cannot read {text!r}; write {CONTRASTS}")
    return Query(of="contrast", by=second.by, sides=(first, replace(second, by=())))


@dataclass(frozen=True, slots=True)
class _Scope:
    """Which rows a statistic is about, and by what they are grouped."""

    where: Condition | None = None
    by: tuple[str, ...] = ()


def _relation(names: Names, text: str) -> Query:
    """Return a relation of attributes, whose text stands for the name of one."""
    from dpress.query.relation_grammar import FORM, relation  # noqa: PLC0415  # read by few

    head, scope = _split(names, text, FORM)
    return Query(of="relation", attribute=relation(names, head).text, where=scope.where, by=scope.by)


def _of_words(names: Names, text: str) -> Query | None:
    """Return a statistic of persons, of different values or of sets; None for conditions."""
    name = any_name(names)
    heads = {"total per person": rf"total\s+({name})\s+per\s+person", "total": rf"total\s+({name})"}
    heads |= {"distinct": rf"distinct\s+({name})", "persons": "persons()", "set size": "set size()"}
    for of, head in heads.items():
        if match := re.match(rf"{head}(?=$|\s+(?:where|by)(?:\s|$))", text, re.IGNORECASE):
            scope = _scope(names, text[match.end() :], f"`{of} where CONDITIONS`")
            attribute = _plain_name(names, match[1])
            return Query(of=of, attribute=attribute, where=scope.where, by=scope.by)  # type: ignore[arg-type]
    return None


def _plain_name(names: Names, written: str) -> str:
    return written if written in names else unquoted(written)


def _scope(names: Names, text: str, form: str) -> _Scope:
    head, scope = _split(names, text, form)
    if head:
        raise ValueError(f"cannot read {head!r}; write {form}")
    return scope


def _split(names: Names, text: str, form: str) -> tuple[str, _Scope]:
    """Return what stands before `where` and `by`, and what these say, in either order."""
    head, *behind = parts(text, WHERE)
    if len(behind) > 1:
        raise ValueError(f"cannot read {text!r}; write {form}")
    (head, by), (where, also) = _by(names, head), _by(names, behind[0] if behind else "")
    if behind and not where:
        raise ValueError(f"`where` needs a condition behind it; write {form}")
    if by and also:
        raise ValueError(f"cannot read {text!r}: `by` stands twice")
    return head, _Scope(conditions(names, where) if behind else None, by or also)


def _by(names: Names, text: str) -> tuple[str, tuple[str, ...]]:
    """Return what stands before `by NAME, ...` at the end of a text, and the names."""
    name = any_name(names)
    for match in re.finditer(rf"{QUOTED}|(?:^|(?<=\s))by\s+({name}(?:\s*,\s*{name})*)\s*$", text):
        if match[1]:
            written = re.findall(name, match[1])
            by = tuple(_plain_name(names, word) for word in written)
            if len(set(by)) < len(by):
                raise ValueError(f"cannot read {match[0]!r}: a name stands twice")
            return text[: match.start()].strip(), by
    if wrong := re.match(r"by\s+(.+)$", text):
        raise ValueError(_no_groups(names, wrong[1].strip()))
    return text.strip(), ()


def _no_groups(names: Names, text: str) -> str:
    """Return why a text names no attributes to group by."""
    several = re.split(r"[\s,]+(?:and\s+)?", text)
    if set(several) <= set(names):
        return f"cannot read 'by {text}'; several attributes are `by {', '.join(several)}`"
    wrong = (unquoted(name) for name in re.split(r"\s*,\s*", text))
    return no_attribute(names, next(name for name in wrong if name not in names))


def _of_attribute(of: Of, form: str = "") -> Callable[[Names, str], Query]:
    def reader(names: Names, rest: str) -> Query:
        attribute, scope = _named(names, rest, FORMS[form or of])
        return Query(of=of, attribute=attribute, where=scope.where, by=scope.by)

    return reader


def _of_circle(of: Of) -> Callable[[Names, str], Query]:
    form, second = of.split()

    def reader(names: Names, rest: str) -> Query:
        word, _, behind = rest.partition(" ")
        if word != second or not behind.strip():
            raise ValueError(f"cannot read '{form} {rest}'; write {FORMS[form]}")
        return _of_attribute(of, form)(names, behind.strip())

    return reader


def _quantile(names: Names, rest: str) -> Query:
    level, *name = parts(rest, r"\sof\s")
    try:
        number = float(level)
    except ValueError:
        raise ValueError(f"cannot read {level!r} as the level of a quantile; write {FORMS['quantile']}") from None
    if not name:
        raise ValueError(f"cannot read 'quantile {rest}'; write {FORMS['quantile']}")
    attribute, scope = _named(names, " of ".join(name), FORMS["quantile"])
    return Query(of="quantile", attribute=attribute, level=number, where=scope.where, by=scope.by)


def _named(names: Names, text: str, form: str) -> tuple[str, _Scope]:
    """Return an attribute and what stands behind it; a name that holds such a word itself goes first."""
    if match := re.match(rf"({any_name(names)})(?=$|\s+(?:where|by)(?:\s|$))", text):
        return _plain_name(names, match[1]), _scope(names, text[match.end() :].strip(), form)
    name, *behind = parts(text, WHERE)
    if not name or name.split()[0].lower() in GRAMMAR:
        raise ValueError(f"cannot read {text!r}; write {form}")
    if behind and not behind[0]:
        raise ValueError(f"`where` needs a condition behind it; write {form}")
    raise ValueError(no_attribute(names, unquoted(name if hint_for(name) else re.split(r"\s+by\s", name)[0])))


def _share(names: Names, rest: str) -> Query:
    head, scope = _split(names, rest, FORMS["share"])
    if not head:
        raise ValueError(f"cannot read {rest!r}; write {FORMS['share']}")
    return Query(of="share", first=conditions(names, head), where=scope.where, by=scope.by)


def _ratio(names: Names, rest: str) -> Query:
    head, scope = _split(names, rest, FORMS["ratio"])
    pair = parts(head, r"\s/(?=\s|$)")
    if len(pair) != 2 or not all(pair):
        raise ValueError(f"cannot read 'ratio {rest}'; write {FORMS['ratio']}")
    if all(re.match(r"sum\s", side) and not re.match(beginning(names), side) for side in pair):
        sums = tuple(Query(of="sum", attribute=_named(names, side[4:].strip(), FORMS["ratio"])[0]) for side in pair)
        return Query(of="quotient", sides=sums, where=scope.where, by=scope.by)
    first, second = (conditions(names, side) for side in pair)
    return Query(of="ratio", first=first, second=second, where=scope.where, by=scope.by)


def _count(names: Names, rest: str) -> Query:
    head, scope = _split(names, rest, FORMS["count"])
    first, *others = parts(head, r"\s-\s+count(?=\s|$)")
    if len(others) > 1 or (others and not (first and others[0])):
        raise ValueError(f"cannot read 'count {rest}'; write {FORMS['count']}")
    counted = conditions(names, first) if first else TOTAL
    if not others:
        return Query(of="count", first=counted, where=scope.where, by=scope.by)
    return Query(of="difference", first=counted, second=conditions(names, others[0]), where=scope.where, by=scope.by)


READERS: dict[str, Callable[[Names, str], Query]] = {
    "mean": _of_attribute("mean"),
    "sum": _of_attribute("sum"),
    "median": _of_attribute("quantile", "median"),
    "variance": _of_attribute("variance"),
    "quantile": _quantile,
    "share": _share,
    "ratio": _ratio,
    "circular": _of_circle("circular mean"),
    "resultant": _of_circle("resultant length"),
    "count": _count,
}
