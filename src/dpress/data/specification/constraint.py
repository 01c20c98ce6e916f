"""`[[constraint]]` of a specification: what holds in every record that is made. Public; no row is looked at."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, UnsetType

from dpress.core.basics import regular_file
from dpress.core.basics.errors import SchemaMismatch

WORDS = ("impossible", "holds", "determines", "unique")


class Constraint(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A constraint on records.

    Args:
        impossible: a condition that no record fulfils.
        holds: a condition that every record fulfils.
        determines: two attributes, of which the first determines the second.
        unique: a made-up key: a column of numbers of which no two records have the same.
        table: the value of the second for every value of the first, or a CSV file of two columns, called like them.
        persons: of whom a condition is so, where records of two tables are made: each, unless stated.
    """

    impossible: str | UnsetType = UNSET
    holds: str | UnsetType = UNSET
    determines: tuple[str, str] | UnsetType = UNSET
    unique: Annotated[str, msgspec.Meta(min_length=1)] | UnsetType = UNSET
    table: dict[str, str] | str | UnsetType = UNSET
    persons: Literal["each", "first", "others"] | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Refuse what is no constraint, or several."""
        if sum(getattr(self, word) is not UNSET for word in WORDS) != 1:
            raise ValueError(f"expected one of {', '.join(WORDS)}")
        if self.table is not UNSET and self.determines is UNSET:
            raise ValueError(".table: expected beside `determines` alone")
        if self.persons is not UNSET and self.impossible is UNSET and self.holds is UNSET:
            raise ValueError(".persons: expected beside a condition")
        for word in WORDS[:2]:
            if "\n" in (getattr(self, word) or ""):
                raise ValueError(f".{word}: expected a condition in one line, got several")

    @property
    def text(self) -> str:
        """What it says, for people."""
        if self.determines is not UNSET:
            return " determines ".join(self.determines)
        if self.unique is not UNSET:
            return f"{self.unique} is made up, and unique"
        whom = f" ({self.persons})" if self.persons is not UNSET else ""
        return (f"not ({self.impossible})" if self.impossible is not UNSET else str(self.holds)) + whom

    @property
    def pairs(self) -> Mapping[str, str]:
        """The second value by the first; empty without a table, or while it is only named."""
        return self.table if isinstance(self.table, dict) else {}

    @property
    def named_table(self) -> str | None:
        """The file of its table, while it is only named."""
        return self.table if isinstance(self.table, str) else None

    def with_files(self, folder: Path) -> "Constraint":
        """Return the constraint with what its file holds.

        Raises:
            SchemaMismatch: there is no such file, or it is no table of its two attributes.
        """
        if (name := self.named_table) is None:
            return self
        try:
            text = regular_file.read(folder / name).decode("utf-8-sig")
            return msgspec.structs.replace(self, table=_pairs(text, self.determines or ()))
        except FileNotFoundError as error:
            raise SchemaMismatch(f"there is no file {error.filename}") from None
        except UnicodeDecodeError:
            raise SchemaMismatch(f"{name}: expected a CSV of two columns, this is no text in UTF-8") from None
        except ValueError as error:
            raise SchemaMismatch(f"{name}: {error}") from None


def _pairs(text: str, names: tuple[str, ...]) -> dict[str, str]:
    """Return the second column by the first."""
    header, *rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row] or [[]]
    if header != [*names]:
        raise ValueError(f"expected the columns {','.join(names)}, got {','.join(header) or 'none'}")
    pairs = dict[str, str]()
    for line, row in enumerate(rows, 2):
        if len(row) != 2 or pairs.get(row[0], row[1]) != row[1]:
            raise ValueError(f"row {line}: expected a value with a single value that it determines")
        pairs[row[0]] = row[1]
    return pairs
