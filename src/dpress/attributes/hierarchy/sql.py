"""Codes in SQL: texts and integers are compared with the keys of a small tree's leaves; Arrow reads those of others."""

import re
from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from dpress.attributes.hierarchy.attribute import Hierarchy
from dpress.attributes.listed import sql as listed
from dpress.attributes.sql.engine_column import TEXT, Column

WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")  # a text that an integer of 64 bits may be written as


def cell(attribute: Hierarchy, column: Column, otherwise: exp.Expr) -> exp.Expr | None:
    """Return the SQL of the cell of a code.

    Args:
        attribute: whose codes they are.
        column: as the engine declares it.
        otherwise: the code of what is missing, and of what is no code.

    Returns:
        None where the column holds neither texts nor integers, or the tree has too many leaves.
    """
    keys, cells = attribute.spine_tree.nodes_of[-1].keys[0], attribute.key_cells
    if len(keys) > listed.MOST_BRANCHES or column.kind is None:
        return None
    pairs = [*zip(keys.to_pylist(), cells.tolist(), strict=True)]
    if column.kind == TEXT:
        return listed.among_texts(column.value, column, pairs, otherwise)
    if not _is_whole(column.kind):
        return None
    held = [(Decimal(key), code) for key, code in pairs if WHOLE.fullmatch(key) and _holds(column.kind, int(key))]
    numbers = pa.array([number for number, _ in held], pa.decimal128(20, 0)).cast(column.kind)
    return listed.among_ordered(column, numbers, [code for _, code in held], otherwise)


def _is_whole(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale == 0))


def _holds(kind: pa.DataType, number: int) -> bool:
    """Say whether a type of whole numbers holds one."""
    if pa.types.is_decimal(kind):
        return bool(abs(number) < 10**kind.precision)
    signed = int(pa.types.is_signed_integer(kind))
    return bool(-signed << (kind.bit_width - 1) <= number < 1 << (kind.bit_width - signed))
