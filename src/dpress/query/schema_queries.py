"""Texts as queries about the attributes of a schema, and the levels of their trees, which have names of their own.

text -> the grammar over all these names -> tests of attributes, each with the level that it names.
"""

from collections.abc import Mapping
from dataclasses import replace

from dpress.attributes.domain import Schema
from dpress.query import condition_grammar, grammar
from dpress.query.query_tree import Condition, Query


def query_of(schema: Schema, text: str) -> Query:
    """Return what a text asks for; see `grammar.read`.

    Raises:
        ValueError: it cannot be read; the message says what would be right.
    """
    query, owners = grammar.read(schema.words, text), schema.owners_of_levels
    if not owners:
        return query
    where = None if query.where is None else _levelled(query.where, owners)
    return replace(query, first=_levelled(query.first, owners), second=_levelled(query.second, owners), where=where)


def conditions_of(schema: Schema, text: str) -> Condition:
    """Return the tree of conditions that a text is; see `condition_grammar.conditions`.

    Raises:
        ValueError: it cannot be read.
    """
    return _levelled(condition_grammar.conditions(schema.words, text), schema.owners_of_levels)


def _levelled(condition: Condition, owners: Mapping[str, str]) -> Condition:
    """Return conditions whose tests of a level are tests of its attribute."""
    if condition.attribute in owners:
        return replace(condition, attribute=owners[condition.attribute], level=condition.attribute)
    return replace(condition, parts=tuple(_levelled(part, owners) for part in condition.parts))
