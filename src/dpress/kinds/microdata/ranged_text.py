"""Comparisons of numbers that share a cell with others, as rules over numbers that are drawn within cells.

comparisons -> sums that are computed, put in for what they compute -> inequalities in whole steps, those that share
attributes together.
"""

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpress.attributes.by_edges import ByEdges
from dpress.attributes.domain import Schema
from dpress.core.maps.atoms import Box
from dpress.kinds.microdata.linear_text import Comparison
from dpress.mechanisms.microdata.ranged_numbers import Inequality, RangedSum, Ranges

BITS = 32
"""Of a number with decimals before and behind the binary point: what is drawn is a multiple of a power of 2."""
Terms = dict[str, Fraction]
OPERATORS: Mapping[str, Callable[[Fraction, int], bool]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "=": operator.eq,
    "!=": operator.ne,
}
"""Whether a number stands to another as it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordComparison:
    """A comparison of some records.

    Args:
        form: the comparison.
        where: which records; all where it is empty.
    """

    form: Comparison
    where: Box = ()


def numbers_of(schema: Schema) -> dict[str, ByEdges]:
    """Return the attributes that are numbers, by name."""
    return {column.name: column.numbers for column in schema.tabular if column.numbers is not None}


def ranged(schema: Schema, forms: Sequence[Comparison]) -> set[int]:
    """Return which comparisons are of numbers within cells: of such attributes, and of those computed from them."""
    coarse = {name for name, column in numbers_of(schema).items() if not column.unbinned}
    chosen = set[int]()
    while more := {place for place, form in enumerate(forms) if place not in chosen and coarse & {*form.factors}}:
        chosen |= more
        coarse |= {forms[place].solved for place in more} - {""}
    return chosen


def ranges_of(
    schema: Schema, stated: Sequence[RecordComparison], sizes: Sequence[int]
) -> tuple[tuple[RangedSum, ...], tuple[Ranges, ...]]:
    """Return the rules of comparisons of numbers within cells.

    Args:
        schema: of the attributes as numbers.
        stated: the comparisons.
        sizes: the cells of all attributes; a cell behind those of its numbers is that of a slot without anybody.

    Raises:
        ValueError: a comparison cannot be kept by numbers drawn within cells; the line says which, and why.
    """
    columns = numbers_of(schema)
    for name in dict.fromkeys(name for each in stated for name in each.form.factors):
        _check_numbers(columns[name])
    sums, rest = _solved(stated)
    computed = {name: _put_in(form, name, sums) for name, form in sums.items()}
    rows = [*_substituted(rest, computed)]
    for name, (terms, number) in computed.items():
        if columns[name].whole:
            _check_whole(name, terms, number, columns)
        low, high = _bounds(columns[name])
        most = Comparison(factors=terms, number=number - high, word="<=", solved="")
        rows += [RecordComparison(form=most), RecordComparison(form=replace(most, number=number - low, word=">="))]
    systems = tuple(_system(schema, columns, together, sizes) for together in _joined(rows))
    return tuple(_sum(schema, name, *parts) for name, parts in computed.items()), systems


def _solved(stated: Iterable[RecordComparison]) -> tuple[dict[str, Comparison], list[RecordComparison]]:
    """Return the equations of all records by what they compute, each attribute once, and the other comparisons."""
    sums, rest = dict[str, Comparison](), list[RecordComparison]()
    for each in stated:
        if each.form.solved and not each.where and each.form.solved not in sums:
            sums[each.form.solved] = each.form
        else:
            rest.append(each)
    return sums, rest


def _put_in(form: Comparison, name: str, sums: Mapping[str, Comparison]) -> tuple[Terms, Fraction]:
    """Return an attribute as a sum of others that no equation computes."""
    factor = form.factors[name]
    terms = {other: -each / factor for other, each in form.factors.items() if other != name}
    number, seen = -form.number / factor, {name}
    while solved := next((other for other in terms if other in sums), ""):
        if solved in seen:
            raise ValueError("attributes are computed from each other; leave out one of these constraints")
        seen.add(solved)
        inner, by = sums[solved], terms.pop(solved) / sums[solved].factors[solved]
        number -= by * inner.number
        for other, each in inner.factors.items():
            if other != solved:
                terms[other] = terms.get(other, Fraction(0)) - by * each
    if not any(terms.values()):
        raise ValueError(f"{name} is computed from numbers that cancel out; leave out one of these constraints")
    return {other: each for other, each in terms.items() if each}, number


def _substituted(
    rest: Iterable[RecordComparison], computed: Mapping[str, tuple[Terms, Fraction]]
) -> Iterator[RecordComparison]:
    """Yield comparisons with sums in the place of what they compute, but for those that say nothing then.

    Raises:
        ValueError: one contradicts what computes its numbers.
    """
    for each in rest:
        form = _without(each.form, computed)
        if form.factors:
            yield replace(each, form=form)
        elif not OPERATORS[form.word](form.number, 0):
            raise ValueError(
                f"{', '.join(each.form.factors)}: beside what computes them, this comparison would leave no record "
                "possible; leave out one of these constraints"
            )


def _without(form: Comparison, computed: Mapping[str, tuple[Terms, Fraction]]) -> Comparison:
    """Return a comparison with sums in the place of what they compute."""
    terms, number = dict[str, Fraction](), form.number
    for name, factor in form.factors.items():
        parts, more = computed.get(name, ({name: Fraction(1)}, Fraction(0)))
        number += factor * more
        for other, each in parts.items():
            terms[other] = terms.get(other, Fraction(0)) + factor * each
    return replace(form, factors={name: each for name, each in terms.items() if each}, number=number)


def _joined(rows: Iterable[RecordComparison]) -> Iterator[list[RecordComparison]]:
    """Yield the comparisons that share attributes, together."""
    groups = list[tuple[set[str], list[RecordComparison]]]()
    for row in rows:
        names, together = {*row.form.factors}, [row]
        for group in [each for each in groups if each[0] & names]:
            groups.remove(group)
            names, together = names | group[0], [*group[1], *together]
        groups.append((names, together))
    yield from (together for _, together in groups)


def _system(
    schema: Schema, columns: Mapping[str, ByEdges], rows: Sequence[RecordComparison], sizes: Sequence[int]
) -> Ranges:
    """Return comparisons that share attributes as inequalities in whole steps."""
    names = [name for name in schema.names if any(name in row.form.factors for row in rows)]
    drawn = [name for name in names if not columns[name].unbinned]
    beside = [name for name in names if columns[name].unbinned]
    kinds = {columns[name].whole for name in drawn}
    if len(kinds) > 1:
        raise ValueError(
            f"{', '.join(drawn)}: integers with `bins` and numbers with decimals are compared with each other; "
            "leave out the `bins` of the integers"
        )
    step = 0
    if False in kinds:
        largest = max(float(abs(end)) for name in drawn for end in _bounds(columns[name]))
        step = max(0, BITS - math.ceil(math.log2(max(1, largest))))
    each = [inequality for row in rows for inequality in _inequalities(row, drawn, beside, step)]
    return Ranges(
        about=tuple(schema.names.index(name) for name in drawn),
        edges=tuple(_with_nobody(_edges(columns[name], step), sizes[schema.names.index(name)]) for name in drawn),
        beside=tuple(schema.names.index(name) for name in beside),
        places=tuple(_edges(columns[name], step)[:-1] for name in beside),
        rows=tuple(each),
        step=step,
    )


def _inequalities(
    row: RecordComparison, drawn: Sequence[str], beside: Sequence[str], step: int
) -> Iterator[Inequality]:
    """Yield a comparison as inequalities of whole steps: an equation as two."""
    form, signs = row.form, {"<=": (1,), "<": (1,), ">=": (-1,), ">": (-1,), "=": (1, -1)}
    if form.word not in signs:
        raise ValueError(f"{', '.join(form.factors)}: numbers with several in a cell are compared by =, <, <=, > or >=")
    scale = math.lcm(*(factor.denominator for factor in form.factors.values()))
    divided = math.gcd(*(int(scale * factor) for factor in form.factors.values()))
    for sign in signs[form.word]:
        factors = {name: int(sign * scale * factor) // divided for name, factor in form.factors.items()}
        limit = -sign * form.number * scale * 2**step / divided
        most = math.ceil(limit) - 1 if form.word in ("<", ">") else math.floor(limit)
        yield Inequality(
            coefficients=tuple(factors.get(name, 0) for name in drawn),
            beside=tuple(factors.get(name, 0) for name in beside),
            offset=-most,
            where=row.where,
        )


def _sum(schema: Schema, name: str, terms: Terms, number: Fraction) -> RangedSum:
    about = sorted(schema.names.index(other) for other in terms)
    each = [terms[schema.names[axis]] for axis in about]
    return RangedSum(
        axis=schema.names.index(name),
        about=tuple(about),
        coefficients=tuple((factor.numerator, factor.denominator) for factor in each),
        offset=(number.numerator, number.denominator),
    )


def _check_numbers(column: ByEdges) -> None:
    """Refuse an attribute with a cell that is no number."""
    if column.extra:
        raise ValueError(
            f"{column.name} has a cell without a number, {column.extra[0]!r}; what is said of several numbers at once "
            'needs `null = "drop"` or "reject"'
        )


def _check_whole(name: str, terms: Terms, number: Fraction, columns: Mapping[str, ByEdges]) -> None:
    """Refuse an integer that is computed from what is none."""
    whole = all(factor.denominator == 1 and columns[other].whole for other, factor in terms.items())
    if not whole or number.denominator != 1:
        raise ValueError(f'{name} is an integer, and is computed from other numbers; use `kind = "numeric"`')


def _bounds(column: ByEdges) -> tuple[Fraction, Fraction]:
    """Return the lowest and the highest number."""
    low, high = column.ends
    return Fraction(low), Fraction(high) - (1 if column.whole else 0)


def _with_nobody(edges: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Return edges with those of the cell of a slot without anybody, of which nothing is compared."""
    return (*edges, *range(edges[-1] + 1, edges[-1] + 2 + size - len(edges)))


def _edges(column: ByEdges, step: int) -> tuple[int, ...]:
    """Return the edges of the cells in steps; the last cell of numbers with decimals has its upper end."""
    edges = [math.ceil(Fraction(edge) * 2**step) for edge in column.edges_at(np.arange(column.ordered + 1)).tolist()]
    return tuple(edges) if column.whole else (*edges[:-1], math.floor(Fraction(column.ends[1]) * 2**step) + 1)
