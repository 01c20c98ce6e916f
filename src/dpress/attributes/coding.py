"""The codes of values, from the values and the specification alone: the definition that every reader of rows equals.

value -> what it is (`attributes.value`) -> a cell, or OUTSIDE, or MISSING -> what the specification says of those two.
It needs NumPy and nothing else, so that a device can do it.
"""

from collections.abc import Mapping
from typing import Any

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.attributes.policy import DROPPED
from dpress.core.basics.errors import SchemaMismatch


def codes(schema: Schema, values: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the cell of every attribute's value, of a set its words: what a device reports about.

    Args:
        schema: of tabular attributes.
        values: by attribute; more of them do no harm. None, NaN and what is no text, number, truth or time are missing.

    Raises:
        SchemaMismatch: a value is not there, or one that the specification rejects or drops (it is not shown).
    """
    return tuple(code for attribute in schema.tabular for code in _present(attribute, values))


def _present(attribute: Tabular, values: Mapping[str, Any]) -> tuple[int, ...]:
    if attribute.name not in values:
        raise SchemaMismatch(f"attribute {attribute.name}: the data has no column {attribute.name!r}")
    codes_of_value = attribute.codes(values[attribute.name])
    if DROPPED in codes_of_value:
        raise SchemaMismatch(f"attribute {attribute.name}: a value is one that the specification drops")
    return codes_of_value
