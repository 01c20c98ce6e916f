"""Which rows are those of a release: `where` of [data], read as a query, as a rule that every engine follows alike.

text -> tests of attributes and columns -> cells -> `rows_in_cells`. An attribute is read as it is counted, so that the
rows are those that a query of a release would count. Any other column has cells made of the values that the text
compares it with: texts, or numbers and days where it asks for an order.
"""

import datetime as dt
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dpress.attributes.attribute import Tabular
from dpress.attributes.dates import calendar_cells
from dpress.attributes.dates.attribute import LAST_DAY, Date
from dpress.attributes.domain import Schema
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.numbers.attribute import Numeric
from dpress.attributes.policy import DROP, unnamed
from dpress.attributes.value import FIRST_DAY, READABLE
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.maps.runs import Runs, complement, of_codes
from dpress.data.kept_rows import Rule
from dpress.data.rows_in_cells import InCells, Joined
from dpress.data.specification.spec import Spec
from dpress.query.condition_cells import runs_of, stray
from dpress.query.query_tree import RESERVED, Condition
from dpress.query.query_words import IN_QUOTES, OPERATOR, QUOTED, beginning, hint_for, unquoted
from dpress.query.schema_queries import conditions_of

WHOLE = 1e300  # beyond all numbers that are compared
BEFORE_TEST = rf"(?=\s*(?:{OPERATOR}|between\b|is\s+missing\b))"
NAMED = re.compile(rf"(?:{QUOTED})(?!{BEFORE_TEST})|({QUOTED}|[\w.-]+){BEFORE_TEST}")
BARE = re.compile(r"[\w\s+.:,()-]*")  # signs of values outside quotes
ORDERED = ("<", "<=", ">", ">=", "between")


def row_condition(spec: Spec) -> Rule | None:
    """Return the rule of which rows are those of a release; None where all are.

    Raises:
        SchemaMismatch: the condition cannot be read, or compares a column with what it cannot; one line says why.
    """
    return rule_of(Schema(spec.attribute), spec.where, "$.data.where") if spec.where else None


def rule_of(schema: Schema, text: str, place: str) -> Rule:
    """Return the rule of a condition.

    Args:
        schema: of the attributes that it may be about, as well as about other columns.
        text: the condition.
        place: where it stands, for the message.

    Raises:
        SchemaMismatch: see `row_condition`.
    """
    try:
        tree = conditions_of(schema, text, other_columns(text, schema.words))
        return _Reader(schema=schema, tests=tuple(tree.tests)).rule(tree, negated=False)
    except ValueError as error:
        raise SchemaMismatch(f"{place}: {error}") from None


def other_columns(text: str, words: Sequence[str]) -> list[str]:
    """Return the names in front of an operator that are no attributes; one with blanks stands in quotes.

    >>> other_columns("year = 2024 and not 'Persons men' > 3 and sex = 'a = b'", ("sex",))
    ['year', 'Persons men']
    """
    starts = re.compile(beginning(tuple(words))) if words else re.compile("(?!)")
    names = [
        unquoted(match[1])
        for match in NAMED.finditer(text)
        if match[1] and not (match[1][0] in "'\"" and starts.match(text, match.start()))
    ]
    return [name for name in dict.fromkeys(names) if name not in words and name not in RESERVED]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """What a condition is read by.

    Args:
        schema: of all attributes.
        tests: of the whole condition.
    """

    schema: Schema
    tests: tuple[Condition, ...]

    def rule(self, condition: Condition, *, negated: bool) -> Rule:
        """Return the rule of a condition, or of its opposite, of values that have a cell."""
        if condition.word == "not":
            return self.rule(condition.parts[0], negated=not negated)
        if condition.parts:
            joins_all = (condition.word == "and") != negated
            parts = tuple(self.rule(part, negated=negated) for part in condition.parts)
            return Joined(word="and" if joins_all else "or", parts=parts)
        if condition.word == "total":
            raise ValueError("`total` holds of every row; leave `where` out for all rows")
        attribute, cells = self._cells(condition)
        return InCells(attribute=attribute, cells=complement(cells, attribute.size) if negated else cells)

    def _cells(self, test: Condition) -> tuple[Tabular, Runs]:
        """Return the cells that a test names, and the attribute that has them."""
        attribute = next((each for each in self.schema.attributes if each.name == test.attribute), None)
        if attribute is not None and (attribute.held is not None or len(attribute.sides) != 1):
            raise ValueError(f"{attribute.name} is no single value of a row; name columns that are")
        if attribute is None or attribute.discovered:
            return self._of_column(test.attribute if attribute is None else attribute.columns[0], test)
        column = attribute.with_cells
        if test.word == "missing" and column.missing_cell is None:
            return _missing(column.read_from)
        return column, runs_of(Schema((attribute,)), test)

    def _of_column(self, name: str, test: Condition) -> tuple[Tabular, Runs]:
        """Return the cells of a column that is no attribute."""
        if test.word == "missing":
            return _missing(name)
        self._check_written(test)
        tests = [each for each in self.tests if each.attribute == test.attribute and each.word != "missing"]
        values = list(dict.fromkeys(value for each in tests for value in each.values))
        reads = {side.reads for each in self.schema.attributes for side in each.sides if side.read_from == name}
        if not reads & {"number", "time"} and not any(each.word in ORDERED for each in tests):
            column: Tabular = _texts(name, tuple(values))
        elif reads <= {"number"} and None not in (numbers := [*map(_number, values)]):
            return _numbers(name, numbers, test)
        elif reads <= {"time"} and None not in (days := [*map(_days, values)]):
            column = Date(name=name, cells="day", bounds=_around(days), null=DROP)
        else:
            raise ValueError(
                f"{name} is ordered by numbers, or by dates such as 2024-12-31, got {test.written!r}; "
                "other columns are compared by =, != and in (a, b)"
            )
        named = test if test.attribute == name else Condition(word=test.word, attribute=name, values=test.values)
        return column, runs_of(Schema((column,)), named)

    def _check_written(self, test: Condition) -> None:
        """Refuse what would be a text of a column, and was probably meant otherwise."""
        bare = IN_QUOTES.sub("", test.written)
        if test.word != "between" and (not BARE.fullmatch(bare) or RESERVED & {*bare.split()}):
            wrong = f"cannot read {test.written!r}{hint_for(test.written)}"
            raise ValueError(stray(self.schema, test) or f"{wrong}; a value with such signs or words needs quotes")


def _texts(name: str, values: tuple[str, ...]) -> Tabular:
    """Return a column with a cell for each text, and one for all others."""
    return Categorical(name=name, values=values, other=unnamed("other", "other", values), null=DROP)


def _missing(name: str) -> tuple[Tabular, Runs]:
    """Return the cell of a column's missing values."""
    column = Categorical(name=name, values=("value",), other="other", null="missing")
    return column, of_codes([column.labels.index("missing")])


def _number(text: str) -> float | None:
    """Return the number that a text is; None where it is none, or too large."""
    number = float(text) if READABLE.fullmatch(text) else math.inf
    return number if abs(number) < WHOLE else None


def _numbers(name: str, numbers: Iterable[float | None], test: Condition) -> tuple[Tabular, Runs]:
    """Return the cells of numbers that are below, at and above each of those that a column is compared with."""
    exact = [number for number in numbers if number is not None]
    edges = sorted({-WHOLE, WHOLE, *exact, *(math.nextafter(number, math.inf) for number in exact)})
    column = Numeric(name=name, cuts=tuple(edges), null=DROP)
    cells = [edges.index(float(value)) for value in test.values]
    first, last, most = min(cells), max(cells), column.ordered - 1
    if test.word == "between" and cells != sorted(cells):
        raise ValueError(f"{name}: the ends of {test.written} are reversed")
    runs: dict[str, Runs] = {
        "<": ((0, first - 1),),
        "<=": ((0, first),),
        ">": ((last + 1, most),),
        ">=": ((first, most),),
        "between": ((first, last),),
        "!=": complement(((first, first),), column.size),
    }
    return column, runs.get(test.word, of_codes(cells))


def _days(text: str) -> tuple[int, int] | None:
    """Return the first and the last day, since 1970, of what a text names; None where it names none."""
    try:
        first, end = calendar_cells.period(text)
    except ValueError:
        return None
    return int(first // calendar_cells.DAY), int((end - 1) // calendar_cells.DAY)


def _around(days: Iterable[tuple[int, int] | None]) -> tuple[dt.date, dt.date]:
    """Return a day before all of these, and one behind them, into which all others are clamped."""
    stated = [day for each in days if each is not None for day in each]
    first, last = FIRST_DAY + min(stated) - 1, FIRST_DAY + max(stated) + 1
    return dt.date.fromordinal(max(1, first)), dt.date.fromordinal(min(LAST_DAY.toordinal(), last))
