"""The folder of a session: for every accepted statement a file with what was asked, and a folder of its releases.

`statement-3.json` is made before anything is charged, and never overwritten: two sessions in one folder take different
numbers, and what was interrupted is gone on with.
"""

import itertools
import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpress.core.basics.edited_file import check_format, reason
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.read import from_parameters
from dpress.ledger.event import write_loss

if TYPE_CHECKING:
    from dpress.query.sql.statements_folder import Statements

FORMAT = 1
PREFIX = "statement-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A statement that was accepted, whether its releases are there or not.

    Args:
        number: in the session, from 1.
        folder: of its releases.
        sql: the statement.
        spec: the hash of the session's specification.
        budget: what it may cost.
        analyst: whose share paid; empty where nobody's did.
    """

    number: int
    folder: Path
    sql: str
    spec: str
    budget: Loss
    analyst: str

    @property
    def whole(self) -> bool:
        """Whether all of its releases are there."""
        from dpress.query.sql.statements_folder import load_statements  # noqa: PLC0415  # all that answers, at its use

        try:
            return not load_statements(self.folder, whole=False).missing
        except (OSError, SchemaMismatch):  # not begun, or another process is just writing it
            return False

    @property
    def statements(self) -> "Statements":
        """Its releases.

        Raises:
            SchemaMismatch: one is missing.
        """
        from dpress.query.sql.statements_folder import load_statements  # noqa: PLC0415  # the same

        return load_statements(self.folder)


def accepted_in(folder: Path) -> tuple[Accepted, ...]:
    """Return the statements of a session, in order; none where there is no folder yet.

    Raises:
        SchemaMismatch: a file was edited, or is of another version.
    """
    places = {place.stem.removeprefix(PREFIX): place for place in folder.glob(f"{PREFIX}*.json")}
    numbers = sorted(int(number) for number in places if number.isdecimal())
    made = (_read(places[str(number)], number) for number in numbers)
    return tuple(accepted for accepted in made if accepted is not None)


def _read(place: Path, number: int) -> Accepted | None:
    """Return a statement; None where another process has just taken it back."""
    try:
        plain: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
        check_format(plain["format"], FORMAT)
        texts = {name: str(plain[name]) for name in ("sql", "spec", "analyst")}
        budget = from_parameters({str(name): str(amount) for name, amount in plain["budget"].items()})
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SchemaMismatch(f"{place}{reason(error)}") from None
    return Accepted(number=number, folder=place.with_suffix(""), budget=budget, **texts)


def accept_in(folder: Path, *, sql: str, spec: str, budget: Loss, analyst: str) -> Accepted:
    """Write that a statement is accepted, under the first number that nobody has taken; nothing is charged by that.

    Raises:
        OSError: the folder cannot be written.
    """
    folder.mkdir(exist_ok=True)
    plain = {"format": FORMAT, "sql": sql, "spec": spec, "budget": write_loss(budget), "analyst": analyst}
    text = json.dumps(plain, indent=2) + "\n"
    last = max((accepted.number for accepted in accepted_in(folder)), default=0)
    number = next(number for number in itertools.count(last + 1) if _written(folder / f"{PREFIX}{number}.json", text))
    place = folder / f"{PREFIX}{number}"
    return Accepted(number=number, folder=place, sql=sql, spec=spec, budget=budget, analyst=analyst)


def _written(place: Path, text: str) -> bool:
    """Return whether a file was written that was not there, whole at once; another process may have been faster."""
    with tempfile.NamedTemporaryFile("w", dir=place.parent, encoding="utf-8") as file:
        file.write(text)
        file.flush()
        try:
            os.link(file.name, place)
        except FileExistsError:
            return False
    return True


def forget(accepted: Accepted) -> None:
    """Take a statement back for which nothing was charged."""
    shutil.rmtree(accepted.folder, ignore_errors=True)
    accepted.folder.with_suffix(".json").unlink()
