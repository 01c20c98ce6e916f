"""The folder of releases that answer statements: which release answers which, and the answers as tables.

`statements.json`, a folder for every release -> `Statements` -> the table that a statement asked for.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from dpress.core.basics.edited_file import check_format, reason
from dpress.core.basics.errors import SchemaMismatch
from dpress.query.folder import MANIFEST, STATEMENTS, is_series
from dpress.query.load import load_release
from dpress.query.published_tables import CONFIDENCE
from dpress.query.query_tree import Query
from dpress.query.release import Release
from dpress.query.sql.answer import Unanswered, answers
from dpress.query.sql.query_in_sql import in_sql, shortened
from dpress.query.sql.sql_refusal import SqlRefusal
from dpress.query.sql.sql_table import SqlTable

FORMAT = 1
LONGEST = 120  # characters of the statements that a refusal shows
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statements:
    """Releases that answer statements together.

    Args:
        folder: that holds a folder for each of them.
        sql: the statements that they were made for.
        spec: the hash of the specification.
        answered: the places of the statements that each release answers, from 0, by its name.
    """

    folder: Path
    sql: str
    spec: str
    answered: Mapping[str, tuple[int, ...]]

    @property
    def count(self) -> int:
        """How many statements there are."""
        return sum(map(len, self.answered.values()))

    @property
    def missing(self) -> tuple[str, ...]:
        """The names of the releases that are not there yet."""
        return tuple(name for name in self.answered if not (self.folder / name / MANIFEST).is_file())

    def release(self, name: str) -> Release:
        """Return one of the releases."""
        return load_release(self.folder / name)

    def answer(self, number: int, *, confidence: float = CONFIDENCE) -> SqlTable:
        """Return the table that a statement asked for.

        Args:
            number: of the statement, from 1.
            confidence: of every interval.

        Raises:
            ValueError: there is no such statement.
        """
        name = self.answering(number)
        return answers(self.release(name), self.sql, confidence, only=[number - 1], joined=True)[0]

    def answering(self, number: int) -> str:
        """Return the name of the release that answers a statement.

        Raises:
            ValueError: there is no such statement.
        """
        for name, places in self.answered.items():
            if number - 1 in places:
                return name
        raise ValueError(f"{self.folder}: there are statements 1 to {self.count}, got {number}")

    def sql_tables(self, sql: str, *, confidence: float = CONFIDENCE) -> tuple[SqlTable, ...]:
        """Answer further statements, each from the first release that does.

        Raises:
            SqlRefusal: a statement cannot be read, or no release answers it.
        """
        return self.first(lambda release: answers(release, sql, confidence))[1]

    def first(self, answering: Callable[[Release], Answer]) -> tuple[str, Answer]:
        """Return the first of the releases that answers, by its name, and what it answers.

        Raises:
            SqlRefusal, ValueError: none does.
        """
        faults: list[ValueError] = []
        for name in self.answered:
            try:
                return name, answering(self.release(name))
            except Unanswered as fault:
                faults.insert(0, self._unanswered(fault.query))
            except ValueError as fault:
                faults.append(fault)
        raise faults[0]

    def _unanswered(self, query: Query) -> SqlRefusal:
        """Return that no release answers a number of a further statement, in SQL."""
        shown = shortened(" ".join(self.sql.split()), LONGEST)
        return SqlRefusal(
            f"{in_sql(query)} does not follow from what was measured for: {shown}",
            self.sql,
        )


def is_statements(folder: str | Path) -> bool:
    """Return whether a folder holds releases that answer statements."""
    return (Path(folder) / STATEMENTS).is_file()


def sql_tables(folder: str | Path, sql: str, *, confidence: float = CONFIDENCE) -> tuple[SqlTable, ...]:
    """Answer statements about what a folder holds: one release, or several that answer statements; nothing is charged.

    Raises:
        SqlRefusal, ValueError: a statement cannot be read, nothing answers it, or the folder holds releases by period.
        OSError, SchemaMismatch: see `load_release` and `load_statements`.
    """
    if is_series(folder):
        raise ValueError(f"{folder} is a series of releases; ask the folder of one of its periods")
    if is_statements(folder):
        return load_statements(folder).sql_tables(sql, confidence=confidence)
    return answers(load_release(folder), sql, confidence)


def write_statements(folder: Path, *, sql: str, spec: str, answered: Mapping[str, Sequence[int]]) -> Statements:
    """Write which release will answer which statement."""
    plain = {"format": FORMAT, "sql": sql, "spec": spec, "answered": {name: [*at] for name, at in answered.items()}}
    (folder / STATEMENTS).write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8")
    return load_statements(folder, whole=False)


def load_statements(folder: str | Path, *, whole: bool = True) -> Statements:
    """Read a folder of releases that answer statements.

    Args:
        folder: its path.
        whole: whether every release must be there.

    Raises:
        OSError: it holds none.
        SchemaMismatch: it was edited, or a release is missing.
    """
    folder = Path(folder)
    try:
        plain: dict[str, Any] = json.loads((folder / STATEMENTS).read_text(encoding="utf-8"))
        check_format(plain["format"], FORMAT)
        answered = {Path(str(name)).name: tuple(map(int, places)) for name, places in plain["answered"].items()}
        made = Statements(folder=folder, sql=str(plain["sql"]), spec=str(plain["spec"]), answered=answered)
        if sorted(place for places in answered.values() for place in places) != list(range(made.count)):
            raise SchemaMismatch("not every statement is answered once")
    except FileNotFoundError:
        raise OSError(f"{folder} holds no answers to statements: there is no {STATEMENTS} in it") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SchemaMismatch(f"{folder / STATEMENTS}{reason(error)}") from None
    if whole and made.missing:
        raise SchemaMismatch(
            f"{folder}: {made.missing[0]} is missing; publish the statements again, which goes on with it"
        )
    return made
