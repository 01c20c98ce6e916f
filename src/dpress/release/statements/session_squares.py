"""The numbers of a session that are linear in the same rows, as one system over the atoms that statements tell apart.

statements -> counts and sums, each by its rows -> atoms of all -> what every release says of them, with the covariance
of its errors -> one generalised least squares, for the releases' noise is drawn independently.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpress.attributes.domain import Schema
from dpress.core.basics.errors import NotSupported
from dpress.core.maps.atoms import Atoms
from dpress.core.maps.linear import Array
from dpress.data.specification.spec import Spec
from dpress.inference.generalised_least_squares import Answers, GeneralisedLeastSquares
from dpress.query.boxes import predicate
from dpress.query.query_tree import TOTAL, Condition, Query, both
from dpress.query.release import Release
from dpress.query.sql.answer import Place, columns_of_release, grouped
from dpress.query.sql.columns import Columns
from dpress.query.sql.reader import statements
from dpress.query.statistics import two_counts
from dpress.release.statements.specifications import columns_of

MOST = 256  # numbers of all statements, and the atoms that these tell apart
Quantity = tuple[str, int]
"""What is added up: an attribute, and how many levels its numbers were rounded to; of counts ("", 0)."""
Key = tuple[int, Place, int]
"""Of a number: which statement, its group and name, and which of the numbers that it is made of."""
COUNT: Quantity = ("", 0)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A release of a session.

    Args:
        number: of the statement that it was made for.
        release: that is asked.
        sql: the statement that it was made for.
        selected: whether its counts are of names that were found by their counts, which biases them.
    """

    number: int
    release: Release
    sql: str
    selected: bool = False

    def queries(self, columns: Columns) -> Mapping[Place, Query]:
        """Return the query of every number of every group of a statement, as `queries_of` does.

        A number that is about other attributes than the release's is among them, so that those beside it are read.

        Args:
            columns: of the specification, with the statement's text.
        """
        if columns.text not in self._read:
            attributes = columns_of_release(self.release, columns.text, joined=True).attributes
            names = {attribute.name for attribute in attributes}
            others = [attribute for attribute in columns.attributes if attribute.name not in names]
            self._read[columns.text] = queries_of(replace(columns, attributes=(*attributes, *others)))
        return self._read[columns.text]

    @cached_property
    def _read(self) -> dict[str, Mapping[Place, Query]]:
        """The statements that were read so far: a session asks every release every statement again and again."""
        return {}


Offers = Sequence[tuple[Reading, Mapping[Key, Query]]]
"""Releases, with the numbers of statements as they read them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SessionSquares:
    """What releases of the same rows say together.

    Args:
        cells: the atoms of every number, 0 or 1 each; only numbers of rows that the specification can have.
        sources: the releases of which answers are used.
        lists: their answers, in the same order.
        quantities: what is added up, each over as many unknowns as there are atoms, in this order.
    """

    cells: Mapping[Key, Array]
    sources: tuple[Reading, ...]
    lists: tuple[Answers, ...]
    quantities: tuple[Quantity, ...]

    @cached_property
    def squares(self) -> GeneralisedLeastSquares:
        """The least squares."""
        return GeneralisedLeastSquares(lists=self.lists)

    def weights(self, place: Place, query: Query) -> Array | None:
        """Return the unknowns of every number that one of the first statement is made of; None where one is open."""
        parts = numbers_of(query)
        rows = [self._row(part, self.cells.get((0, place, number))) for number, part in enumerate(parts)]
        weights = [row for row in rows if row is not None]
        return np.array(weights) if weights and len(weights) == len(parts) else None

    def _row(self, part: Query, cells: Array | None) -> Array | None:
        """Return the unknowns of a number; of sums over several roundings those that are known best."""
        if cells is None:
            return None
        places = np.arange(len(self.quantities))
        rows = [
            np.outer(places == at, cells).ravel()
            for at, (name, _) in enumerate(self.quantities)
            if name == part.attribute
        ]
        return min(filter(self.squares.determines, rows), key=self._variance, default=None)

    def _variance(self, row: Array) -> float:
        return float(self.squares.estimates(row[None])[1].item())

    def used(self, weights: Array) -> list[Reading]:
        """Return the releases that some sums of unknowns come from."""
        return [each for each, used in zip(self.sources, self.squares.used(weights), strict=True) if used]


def queries_of(columns: Columns) -> Mapping[Place, Query]:
    """Return the query of every number of every group of a statement over some columns.

    Of groups that look alike, and of a statement over other columns or within their cells, there are none.
    """
    try:
        (statement,) = statements(columns.text, columns)
        pairs = [
            ((group.values, number.name), query)
            for group, queries in grouped(statement, Schema(columns.attributes))
            for number, query in queries
        ]
    except ValueError:  # it has other columns, or coarser cells
        return {}
    seen = Counter(place for place, _ in pairs)
    return {place: query for place, query in pairs if seen[place] == 1}


def session_squares(spec: Spec, sql: str, readings: Sequence[Reading]) -> SessionSquares | None:
    """Return what releases say together of the numbers of a statement.

    The numbers of all statements take part, or of those in order, the statement first, with which there are at most 256
    numbers and atoms: a later one takes no earlier one away. None where the statement alone has more, or none.
    """
    texts = list(dict.fromkeys([sql, *(reading.sql for reading in readings)]))
    chosen, cells = texts, _cells_of(spec, texts)
    if not cells:
        chosen, cells = texts[:1], _cells_of(spec, texts[:1])
        for text in texts[1:] if cells else ():
            if more := _cells_of(spec, [*chosen, text]):
                chosen, cells = [*chosen, text], more
    return _measured(cells, offers(spec, chosen, readings)) if cells else None


def single_squares(place: Place, offered: Offers) -> SessionSquares | None:
    """Return what releases say of one number of a statement, whatever else they say."""
    key = (0, place, 0)
    alone = [(reading, {key: numbers[key]}) for reading, numbers in offered if key in numbers]
    return _measured({key: np.ones(1)}, alone)


def offers(spec: Spec, texts: Sequence[str], readings: Sequence[Reading]) -> Offers:
    """Return the numbers of statements as every release has them, those of names that it selected left out."""
    chosen = [reading for reading in readings if not reading.selected]
    columns = [columns_of(spec, text) for text in texts]
    return [(reading, dict(_numbers([reading.queries(each) for each in columns]))) for reading in chosen]


def numbers_of(query: Query) -> tuple[Query, ...]:
    """Return the numbers, linear in the rows, that a query is made of; none of a quantile and the like."""
    if query.of == "count":
        return (_count(both(query.first, query.where)),)
    if query.of in ("share", "ratio", "difference"):
        return tuple(map(_count, two_counts(query)))
    added = Query(of="sum", attribute=query.attribute, where=query.where)
    of_sums = {"sum": (added,), "mean": (added, _count(query.where or TOTAL))}
    return of_sums.get(query.of, ())


def _count(rows: Condition) -> Query:
    return Query(of="count", first=rows)


def _rows(number: Query) -> Condition:
    return number.first if number.of == "count" else number.where or TOTAL


def _numbers(queries: Sequence[Mapping[Place, Query]]) -> Iterator[tuple[Key, Query]]:
    for statement, pairs in enumerate(queries):
        for place, query in pairs.items():
            for number, part in enumerate(numbers_of(query)):
                yield (statement, place, number), part


def _cells_of(spec: Spec, texts: Sequence[str]) -> Mapping[Key, Array]:
    """Return the atoms of every number of some statements; none where there are too many."""
    numbers = dict(_numbers([queries_of(columns_of(spec, text)) for text in texts]))
    names = sorted({test.attribute for number in numbers.values() for test in _rows(number).tests})
    schema, predicates = Schema(spec.attribute).subset(names), {}
    for key, number in numbers.items():
        try:
            predicates[key] = predicate(schema, _rows(number))
        except ValueError:  # it holds of no row
            continue
    distinct = tuple(dict.fromkeys(predicates.values()))
    if not 0 < len(distinct) <= MOST:
        return {}
    try:
        atoms = Atoms(schema.shape or (1,), distinct)
    except (ValueError, NotSupported):  # an attribute has too many cells, or they form too many atoms
        return {}
    if atoms.size > MOST:
        return {}
    rows = dict(zip(distinct, atoms.sums.matrix, strict=True))
    return {key: rows[boxes] for key, boxes in predicates.items()}


def _measured(cells: Mapping[Key, Array], offered: Offers) -> SessionSquares | None:
    """Return the system of the releases whose errors are known."""
    answered = [(reading, _answered(cells, numbers, reading)) for reading, numbers in offered]
    quantities = tuple(dict.fromkeys(quantity for _, rows in answered for quantity, _ in rows))
    lists: list[tuple[Reading, Answers]] = []
    for reading, rows in answered:
        try:
            made = reading.release.answers.linear([*rows.values()]) if rows else None
        except ValueError:  # how its errors depend on each other is not known
            continue
        if made is not None:
            size = len(next(iter(cells.values())))
            matrix = np.zeros((len(rows), len(quantities), size))
            for row, (quantity, holds) in zip(matrix, rows, strict=True):
                row[quantities.index(quantity)] = np.frombuffer(holds)
            flat = matrix.reshape(len(rows), -1)
            lists.append((reading, Answers(matrix=flat, values=made.values, covariance=made.covariance)))
    if not lists:
        return None
    sources, answers = zip(*lists, strict=True)
    return SessionSquares(cells=cells, sources=sources, lists=answers, quantities=quantities)


def _answered(
    cells: Mapping[Key, Array], numbers: Mapping[Key, Query], reading: Reading
) -> Mapping[tuple[Quantity, bytes], Query]:
    """Return the numbers that a release answers, each once, by what is added up and the atoms of its rows."""
    answered: dict[tuple[Quantity, bytes], Query] = {}
    for key, number in numbers.items():
        name = number.attribute
        if key not in cells or (name and name not in reading.release.schema.names):
            continue
        quantity = (name, reading.release.schema.attribute(name).with_cells.size) if name else COUNT
        named = quantity, cells[key].tobytes()
        if named not in answered and _answers(reading, number):
            answered[named] = number
    return answered


def _answers(reading: Reading, number: Query) -> bool:
    try:
        ((variance,),) = reading.release.answers.linear([number]).covariance
    except ValueError:  # it was not measured, or a condition cuts a cell
        return False
    return bool(0 < variance < np.inf)
