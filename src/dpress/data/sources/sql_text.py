"""Names and texts as DuckDB's SQL writes them, and how a file's values become those of one without a format of its own.

column, format -> SQL of one value, made from its text alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dpress.attributes.value import BLANKS
from dpress.data.specification.file_format import FileFormat

AS_WRITTEN = "\x1fas written"  # behind a column's name: its text before it is read


def text(value: str) -> str:
    """Return a text in SQL."""
    return "'" + value.replace("'", "''") + "'"


def quoted(column: str) -> str:
    """Return a column's name in SQL."""
    return '"' + column.replace('"', '""') + '"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """How the values of a file of text are read.

    Args:
        format: as stated.
        numbers: the columns whose values are numbers.
        dates: the columns whose listed values are dates.
        times: the columns whose values are dates or times.
    """

    format: FileFormat
    numbers: frozenset[str]
    dates: frozenset[str]
    times: frozenset[str] = frozenset()

    def read(self, source: str, columns: Iterable[str], called: Mapping[str, str]) -> str:
        """Return the SQL of some columns as a file without a format of its own would have them.

        Args:
            source: the SQL of the rows.
            columns: that are read.
            called: what the engine calls a column, where that is not its name.
        """
        values = ", ".join(f"{self._value(column, called)} AS {quoted(column)}" for column in columns)
        return f"SELECT {values} FROM {source}"  # noqa: S608  # names and signs are quoted; the path is a parameter

    def _value(self, column: str, called: Mapping[str, str]) -> str:
        name = column.removesuffix(AS_WRITTEN)
        value = self._present(quoted(called.get(name, name)))
        if column in self.numbers:
            return self._number(value)
        if column in self.times:
            return self._time(value)
        return self._date(value) if column in self.dates else value

    def _present(self, value: str) -> str:
        """Return the SQL of a text, NULL where it stands for a missing value."""
        if self.format.null_values:
            texts = ", ".join(text(null.strip(BLANKS)) for null in self.format.null_values)
            value = f"CASE WHEN trim({value}, {text(BLANKS)}) NOT IN ({texts}) THEN {value} END"
        return value

    def _number(self, value: str) -> str:
        """Return the SQL of a number with a decimal point and no thousands; NULL where it is written otherwise."""
        decimal, group = self.format.decimal, self.format.thousands
        if decimal == "." and not group:
            return value
        grouped = rf"|\d{{1,3}}([{group}]\d{{3}})+" if group else ""
        pattern = rf"[+-]?((\d+{grouped})([{decimal}]\d*)?|[{decimal}]\d+)([eE][+-]?\d+)?"
        bare = f"trim({value}, {text(BLANKS)})"
        plain = f"replace({bare}, {text(group)}, '')" if group else bare
        plain = f"replace({plain}, {text(decimal)}, '.')"
        return f"CASE WHEN regexp_full_match({bare}, {text(pattern)}) THEN {plain} END"

    def _date(self, value: str) -> str:
        """Return the SQL of a date as 2024-12-31; a text that is none stays as it is."""
        return f"coalesce(strftime({self._parsed(value)}, '%Y-%m-%d'), {value})"

    def _time(self, value: str) -> str:
        """Return the SQL of a time as 2024-12-31T23:15:00, an instant with Z behind it; other texts stay as they are.

        A time stamp is counted from 1970 and back, so that the zone of the session plays no part.
        """
        if not self.format.date_format:
            return value
        zone = "Z" if "%z" in self.format.date_format.lower() else ""
        moment = f"make_timestamp(epoch_us({self._parsed(value)}))"
        return f"coalesce(strftime({moment}, '%Y-%m-%dT%H:%M:%S{zone}'), {value})"

    def _parsed(self, value: str) -> str:
        return f"try_strptime(trim({value}, {text(BLANKS)}), {text(self.format.date_format)})"
