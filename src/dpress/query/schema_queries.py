"""Texts as queries about the attributes of a schema, and the levels of their trees, which have names of their own.

text -> the grammar over all these names -> tests of attributes, each with the level that it names.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace

from dpress.attributes.domain import Schema
from dpress.query import condition_grammar, grammar
from dpress.query.query_tree import Condition, Query


def query_of(schema: Schema, text: str) -> Query:
    """Return what a text asks for; see `grammar.read`. Titles stand for the names of attributes where names do not.

    Raises:
        ValueError: it cannot be read; the message says what would be right.
    """
    try:
        query = grammar.read(schema.words, text)
    except ValueError as error:
        from dpress.query.words_meant import by_names, of_value  # noqa: PLC0415  # for texts that cannot be read

        if (renamed := by_names(schema, str(text))) == str(text):
            meant = of_value(schema, str(text))
            raise ValueError(f"cannot read {text!r}; {meant}") if meant else error from None
        query = grammar.read(schema.words, renamed)
    return query if len(schema.words) == len(schema.names) else _in_attributes(schema, query)


def _in_attributes(schema: Schema, query: Query) -> Query:
    """Return a query whose conditions on levels, and on places, are about the attributes of these."""
    sides = tuple(_in_attributes(schema, side) for side in query.sides)
    first, second = (_of_attributes(schema, each) for each in (query.first, query.second))
    where = None if query.where is None else _of_attributes(schema, query.where)
    return replace(query, first=first, second=second, where=where, sides=sides)


def conditions_of(schema: Schema, text: str, columns: Sequence[str] = ()) -> Condition:
    """Return the tree of conditions that a text is; see `condition_grammar.conditions`.

    Args:
        schema: whose attributes and levels it may name.
        text: the conditions.
        columns: further names, which are no attributes.

    Raises:
        ValueError: it cannot be read.
    """
    return _of_attributes(schema, condition_grammar.conditions((*schema.words, *columns), text))


def _of_attributes(schema: Schema, condition: Condition) -> Condition:
    """Return conditions whose tests of a level are tests of its attribute, and those of a place of both its sides."""
    if (owner := schema.owners_of_levels.get(condition.attribute)) is not None:
        return replace(condition, attribute=owner, level=condition.attribute)
    if (sides := schema.sides.get(condition.attribute)) is not None:
        return Condition(word="and", parts=_of_sides(condition, sides))
    parts = (_of_attributes(schema, part) for part in condition.parts)
    flat = (part.parts if part.word == condition.word == "and" else (part,) for part in parts)
    return replace(condition, parts=tuple(itertools.chain.from_iterable(flat)))


def _of_sides(condition: Condition, sides: tuple[str, str]) -> tuple[Condition, ...]:
    """Return the tests of a place's sides, of a test such as `place in (-74..-73, 40..41)`.

    Raises:
        ValueError: it is another one.
    """
    ends = [tuple(value.strip() for value in text.split("..")) for text in condition.values]
    if condition.word != "in" or [len(each) for each in ends] != [2, 2]:
        name, (across, up) = condition.attribute, sides
        raise ValueError(f"{name} is a place: write `{name} in (a..b, c..d)`, a..b of {across} and c..d of {up}")
    pairs = zip(sides, ends, condition.values, strict=True)
    return tuple(Condition(word="between", attribute=side, values=both, written=text) for side, both, text in pairs)
