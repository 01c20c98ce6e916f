"""Listed values in SQL: a column is compared with those values of the list that its type can hold.

list, type -> values and cells (`listed.held`, the codec's own) -> a comparison by value, of texts by bytes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from dpress.attributes.arrow import numbers
from dpress.attributes.listed import arrow as listed
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.sql.engine_column import TEXT, Column, number, text, whole
from dpress.attributes.value import BLANKS

MOST_BRANCHES = 256  # of one CASE; Spark compiles no method that is much longer
TOGETHER = 4  # values at a leaf of a search

Pairs = list[tuple[exp.Expr, int]]


def is_comparable(attribute: Categorical, column: Column) -> bool:
    """Return whether SQL finds the values of a list in a column; what else there is, the codec reads or refuses.

    An integer in a text is an exact number with any number of digits, which no engine has.
    """
    first, kind = attribute.values[0], column.kind
    if kind is None or (kind == TEXT and type(first) is int):
        return False
    return isinstance(first, str) or numbers.has_numbers(kind)


def only_cell(column: Column, otherwise: exp.Expr) -> exp.Expr | None:
    """Return the SQL of the cell of a name before names are discovered; None where the column's type has no names."""
    kind = column.kind
    if kind is None or not (kind == TEXT or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        return None
    return exp.case().when(column.missing, otherwise, copy=False).else_(whole(0), copy=False)


def listed_cell(attribute: Categorical, column: Column, otherwise: exp.Expr) -> exp.Expr | None:
    """Return the SQL of the cell of a listed value.

    Args:
        attribute: for which the column `is_comparable`.
        column: as the engine declares it.
        otherwise: the code of what is not listed or missing.

    Returns:
        None where the list is too long, or the engine cannot write one of its values.
    """
    first: type = type(attribute.values[0])
    kind = pa.float64() if pa.types.is_floating(column.kind) else column.kind
    keys, codes = listed.held(attribute.listed, first, kind)
    if kind == TEXT:
        value = _lowered(column) if first is bool else column.value
        return among_texts(value, column, [*zip(keys.to_pylist(), codes.tolist(), strict=True)], otherwise)
    return among_ordered(column, keys, codes, otherwise)


def _lowered(column: Column) -> exp.Expr:
    """Return a text in lower case without blanks around it; only ASCII letters are letters of a truth."""
    blanks: exp.Expr = exp.Literal.string(BLANKS)
    if column.dialect == "spark":
        blanks = exp.cast(exp.HexString(this=BLANKS.encode().hex()), "text")
    return exp.Lower(this=exp.Trim(this=column.value, expression=blanks))


def among_texts(
    value: exp.Expr, column: Column, pairs: Sequence[tuple[str, int]], otherwise: exp.Expr
) -> exp.Expr | None:
    """Return the SQL of the cell of a text, by texts with their cells; None where these are too many."""
    if column.dialect == "duckdb":
        return _among_names(value, pairs, otherwise)
    in_order = sorted(pairs, key=lambda pair: pair[0].encode())  # as engines order texts that they compare by bytes
    constants = [(text(name, column.dialect), code) for name, code in in_order]
    if len(constants) > MOST_BRANCHES or any(literal is None for literal, _ in constants):
        return None
    return _halved(value, [(literal, code) for literal, code in constants if literal is not None], otherwise)


def _among_names(value: exp.Expr, pairs: Sequence[tuple[str, int]], otherwise: exp.Expr) -> exp.Expr | None:
    """Return the cell by the names of an enumeration, which DuckDB hashes, by bytes."""
    pairs = sorted(pairs, key=lambda pair: pair[1])
    names = [text(name, "duckdb") for name, _ in pairs]
    if any(name is None for name in names):
        return None
    kind = exp.DataType(this=exp.DataType.Type.ENUM, expressions=names)
    place = exp.Anonymous(this="enum_code", expressions=[exp.TryCast(this=value, to=kind)])
    codes = [code for _, code in pairs]
    if codes == [*range(len(codes))]:
        return exp.Coalesce(this=exp.cast(place, "int"), expressions=[otherwise])
    return _cases(place, [(whole(number), code) for number, code in enumerate(codes)], otherwise)


def among_ordered(column: Column, keys: pa.Array, codes: Any, otherwise: exp.Expr) -> exp.Expr | None:
    """Return the SQL of the cell of a number, a truth or a time, by values of the column's type with their cells."""
    if len(keys) > MOST_BRANCHES:
        return None
    if pa.types.is_boolean(keys.type):
        pairs: Pairs = [
            (exp.Boolean(this=key), code) for key, code in zip(keys.to_pylist(), codes.tolist(), strict=True)
        ]
        return _cases(column.value, pairs, otherwise)
    times = pa.types.is_temporal(keys.type)
    values = keys.to_numpy(zero_copy_only=False) if times else np.array(keys.to_pylist(), object)
    order = np.argsort(values, kind="stable")
    floats = pa.types.is_floating(keys.type)
    pairs = []
    for place in order:
        written = column.written(values[place])
        if written is None:
            return None
        pairs.append((number(values[place]) if floats else column.constant(written), int(codes[place])))
    value = exp.cast(column.value, "double") if floats else column.value
    return _halved(value, pairs, otherwise)


def _halved(value: exp.Expr, pairs: Pairs, otherwise: exp.Expr) -> exp.Expr:
    """Return a search by halving; the pairs are in the order of their values."""
    if len(pairs) <= TOGETHER:
        return _cases(value, pairs, otherwise)
    middle = len(pairs) // 2
    below, above = (_halved(value, half, otherwise) for half in (pairs[:middle], pairs[middle:]))
    return exp.case().when(value < pairs[middle][0].copy(), below, copy=False).else_(above, copy=False)


def _cases(value: exp.Expr, pairs: Pairs, otherwise: exp.Expr) -> exp.Expr:
    if not pairs:
        return otherwise.copy()
    branches = exp.case()
    for literal, code in pairs:
        branches = branches.when(value.eq(literal), whole(code), copy=False)
    return branches.else_(otherwise.copy())
