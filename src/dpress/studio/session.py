"""One person's work in one folder: what was typed, kept at every change, and what it says of every wish."""

import contextlib
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from dpress.core.basics import regular_file
from dpress.core.basics.check import float_up
from dpress.core.basics.database_url import check_no_password, holds_password, mentions_password
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.losses.any_loss import as_floats, describe
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.read import from_parameters
from dpress.data.sources import files
from dpress.data.sources.first_bytes import proposed
from dpress.data.sources.open_source import open_source, sheet_of
from dpress.data.specification.file_format import FileFormat
from dpress.data.specification.spec import Spec, load_spec
from dpress.ledger.ledger import Ledger
from dpress.studio import faults, shell, written
from dpress.studio.by_period import turns
from dpress.studio.draft import Draft, Wish, column, with_columns, with_proposal
from dpress.studio.faults import Fault
from dpress.studio.page_words import in_words
from dpress.studio.table_codebook import read as read_codebook

KEPT, LEDGER = "studio.json", "ledger.sqlite"
LARGEST = 1 << 22  # bytes of a draft, and of a specification
PUBLISHED = ("title", "about", "contact", "license")
DIGITS = 15  # of a number of people


@dataclass
class Session:
    """The work in one folder.

    Args:
        folder: where specifications, releases and the ledger are written.
        draft: what was typed.
        publishing: held while a wish is published.
    """

    folder: Path
    draft: Draft
    publishing: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def at(cls, folder: Path, source: str = "") -> "Session":
        """Return the work that a folder keeps, or new work in a new folder.

        Args:
            folder: of the work.
            source: of the rows, if this is new work or the same as before.

        Raises:
            OSError: the folder cannot be used.
            ValueError: it keeps work of another source, or a file that is none of a studio.
        """
        check_no_password(source, "the rows")
        folder.mkdir(parents=True, exist_ok=True)
        kept = folder / KEPT
        regular_file.check(folder / LEDGER)
        if not kept.exists():
            return cls(folder, Draft(source=source))
        try:
            draft = msgspec.json.decode(regular_file.read(kept, LARGEST), type=Draft)
        except (msgspec.MsgspecError, RecursionError):
            raise ValueError(f"{kept}: not what a studio of this version keeps; choose another --folder") from None
        session = cls(folder, draft)
        if without_passwords(draft) != draft:  # an earlier version kept them
            session.keep(without_passwords(draft))
        if source and session.draft.source not in ("", source):
            raise ValueError(f"{folder} keeps work on another source; choose another --folder")
        session.draft = msgspec.structs.replace(session.draft, source=session.draft.source or source)
        return session

    def keep(self, draft: Draft) -> None:
        """Keep what was typed, whole or not at all, but for a URL with a password.

        Raises:
            OSError: the folder cannot be written.
            ValueError: there is a password; all else is kept.
        """
        self.draft = without_passwords(draft)
        self._put(KEPT, msgspec.json.format(msgspec.json.encode(self.draft), indent=1))
        check_no_password(draft.source, "the rows")
        if self.draft != draft:
            raise ValueError("a text for the page names a URL with a password; leave the password out")

    def _put(self, name: str, content: bytes) -> Path:
        """Write a file, whole or not at all; a link of that name is replaced, not followed."""
        with tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as file:
            file.write(content)
        return Path(file.name).replace(self.folder / name)

    def look(self) -> Draft:
        """Take the columns that the source declares into the draft; no row is read.

        Raises:
            OSError, SchemaMismatch: the source cannot be read.
            ValueError: of a file of text, the first line is not stated to have names.
        """
        draft = self.draft
        source = open_source(draft.source.strip(), file_format(draft)).source
        self.keep(with_columns(draft, source.declared()))
        return self.draft

    def propose(self) -> Draft:
        """Take into the draft how its file of text is probably written, or the lines of its sheet.

        What was typed stays.

        Raises:
            OSError, SchemaMismatch: it cannot be read.
            ValueError: the source is neither.
        """
        if written.is_text(self.source):
            proposal = proposed(files.named(self.source)[0])
        elif (sheet := sheet_of(self.source)) is not None:
            proposal = sheet.proposal()
        else:
            raise ValueError(f"{self.source}: expected a file of text or a sheet, such as .csv or .xlsx")
        self.keep(with_proposal(self.draft, proposal))
        return self.draft

    def codebook(self, path: str) -> Draft:
        """Take the values that a codebook lists into the draft, where none were typed.

        Raises:
            OSError, SchemaMismatch: it cannot be read, or is none.
        """
        listed = {entry.name: column(entry) for entry in read_codebook(path)}
        columns = [
            msgspec.structs.replace(
                typed,
                values=typed.values or listed[typed.name].values,
                kind=typed.kind or listed[typed.name].kind,
                title=typed.title or listed[typed.name].title,
            )
            if typed.name in listed
            else typed
            for typed in self.draft.columns
        ]
        self.keep(msgspec.structs.replace(self.draft, columns=columns))
        return self.draft

    def wish(self, name: str) -> Wish:
        """Return the wish of that name.

        Raises:
            ValueError: there is none, or there are several.
        """
        wishes = [wish for wish in self.draft.wishes if wish.name == name]
        if len(wishes) != 1:
            raise ValueError(
                f"several wishes are called {name!r}; rename one" if wishes else f"there is no wish {name!r}"
            )
        return wishes[0]

    def spec(self, name: str) -> Spec:
        """Return the specification of a wish, as it would be published."""
        wish = self.wish(name)
        return load_spec(written.specification(self.draft, wish, self.budget(wish)), release={"kind": wish.kind})

    def budget(self, wish: Wish) -> dict[str, str]:
        """Return a wish's part of what the ledger has left; of what was typed, before there is one."""
        open_wishes = [other for other in self.draft.wishes if not self.is_published(other.name)]
        left = self.left
        epsilon = left["epsilon"]
        others = [written.stated(other.epsilon, epsilon) for other in open_wishes]
        amounts = {
            "epsilon": written.part(epsilon, written.stated(wish.epsilon, epsilon), others),
            "delta": written.part(left["delta"], "", ["" for _ in open_wishes]),
        }
        return {name: text for name, text in amounts.items() if name == "epsilon" or text not in ("", written.SPENT)}

    @property
    def left(self) -> dict[str, str]:
        """What is left for all wishes that are not published: of the ledger; before there is one, as typed."""
        typed = {"epsilon": self.draft.epsilon, "delta": self.draft.delta}
        if not self.account.exists():
            return typed
        remaining = Ledger.open(self.account).summary().remaining
        return {name: str(remaining.get(name, "")) for name in typed}

    def is_published(self, name: str) -> bool:
        """Say whether a wish's folder is there."""
        return bool(faults.FILE_NAME.fullmatch(name)) and (self.folder / name).exists()

    def check_open(self, name: str) -> None:
        """Refuse to publish a wish again.

        Raises:
            ValueError: it is published.
        """
        if self.is_published(name):
            raise ValueError(f"{name} is published already; add another wish to publish more")

    def published(self, name: str) -> Path:
        """Return the folder of a published wish, whose files are files.

        Raises:
            OSError: one is a device or a pipe.
            ValueError: it is not published.
        """
        if not self.is_published(name):
            raise ValueError(f"{name!r} is not published yet")
        folder = self.folder / name
        for path in (*folder.glob("*"), *folder.glob("*/*")):  # of statements, a release lies in a folder of its own
            regular_file.check(path)
        return folder

    @property
    def users(self) -> int:
        """About how many rows there are, as typed; 10,000 where that is no number."""
        typed = self.draft.users.strip()
        return int(typed) if typed.isdecimal() and len(typed) <= DIGITS else 10_000

    @property
    def source(self) -> str:
        """Where the rows are.

        Raises:
            ValueError: it is not stated.
        """
        if not self.draft.source.strip():
            raise ValueError("$.data.source: name the file or table that holds the rows")
        return self.draft.source.strip()

    def write(self, name: str) -> Spec:
        """Write the specification of a wish, and its statements, beside its release; return it as the file says.

        Raises:
            SchemaMismatch, ValueError: it is none yet, or its name is no file's.
        """
        if not faults.FILE_NAME.fullmatch(name):
            raise ValueError(f"{name!r}: {faults.NO_NAME}")
        wish = self.wish(name)
        self.spec(name)  # what is refused is not written
        text = written.specification(self.draft, wish, self.budget(wish), self.folder)
        if not wish.kind:
            self._put(f"{name}.sql", wish.sql.encode())
        return load_spec(self._put(f"{name}.toml", text.encode()), release={"kind": wish.kind})

    @contextlib.contextmanager
    def trying(self, name: str) -> Iterator[None]:
        """Take away the specification that a refusal leaves behind: nothing of a wish is there before its release."""
        places = [self.folder / f"{name}{ending}" for ending in (".toml", ".sql")]
        new = [place for place in places if faults.FILE_NAME.fullmatch(name) and not place.exists()]
        try:
            yield
        except BaseException:
            for place in new if not self.is_published(name) else ():
                place.unlink(missing_ok=True)
            raise

    @property
    def account(self) -> Path:
        """Where the ledger of all wishes is; a release that is paid for begins it, with `limit`."""
        return self.folder / LEDGER

    @property
    def limit(self) -> Loss:
        """The budget of all wishes together: of the ledger; before there is one, as typed.

        Raises:
            SchemaMismatch: what was typed is no budget.
        """
        if self.account.exists():
            return Ledger.open(self.account).summary().limit
        amounts = {name: text for name in ("epsilon", "delta") if (text := getattr(self.draft, name).strip())}
        try:
            return from_parameters(amounts)
        except ValueError as error:
            raise SchemaMismatch(f"$.privacy: the budget of all wishes: {error}") from None

    @property
    def ledger(self) -> dict[str, Any]:
        """What the ledger allows and what is spent, as floats rounded against us; of none yet, what was typed."""
        if not self.account.exists():
            return {"exists": False}
        summary = Ledger.open(self.account).summary()
        limit: dict[str, Any] = dict(as_floats(summary.limit) or {})
        return {
            "exists": True,
            "limit": limit,
            "words": describe(summary.limit),
            "spent": {name: float_up(Fraction(value)) for name, value in summary.spent.items()},
            "left": {name: float(value) for name, value in summary.remaining.items()},
        }

    @property
    def wishes(self) -> list[dict[str, Any]]:
        """What every wish is: its TOML and the commands that do the same, or what keeps it from being planned."""
        of_columns = faults.of_columns(self.draft)
        return [self._state_of(wish, of_columns) for wish in self.draft.wishes]

    def _state_of(self, wish: Wish, of_columns: Sequence[Fault]) -> dict[str, Any]:
        commands = self._commands(wish) if wish.kind else self._commands_in_sql(wish)
        state = {
            "name": wish.name,
            "kind": wish.kind,
            "published": self.is_published(wish.name),
            "commands": commands,
            "sql": wish.sql,
            "faults": [],
            "turns": {},
        }
        file = self.folder / f"{wish.name}.toml"
        if state["published"] and file.exists():
            text = regular_file.read(file, LARGEST).decode(errors="replace")
            series = turns(load_spec(file), self.folder / wish.name) if wish.periods else {}
            return {**state, "toml": text, "fault": "", "epsilon": "0", "turns": series}
        budget, text, fault, left = self.budget(wish), "", "", self.left["epsilon"]
        try:
            text = written.specification(self.draft, wish, budget, self.folder)
            spec = self.spec(wish.name)
            state["turns"] = turns(spec, self.folder / wish.name) if wish.periods else {}
        except (ValueError, OSError) as error:
            fault = written.fault(error)
        named = [*of_columns, *faults.missing(self.draft, wish, left), *faults.wrong(self.draft, wish, left)]
        if fault and not named:
            named.append(faults.of_refusal(fault, self.draft, wish.name))
            fault = in_words(fault)
        if named and named[0].empty:
            fault = named[0].line
        spending = written.spending(left, budget["epsilon"])
        return {**state, "toml": text, "fault": fault, "faults": named, **spending, **budget}

    def _commands(self, wish: Wish) -> list[str]:
        """Return the commands that plan, check and publish a wish."""
        spec, out, ledger = (str(self.folder / name) for name in (f"{wish.name}.toml", wish.name, LEDGER))
        period = [shell.option("period", "PERIOD")] if wish.periods else []
        return [
            shell.command("dpress", "plan", spec),
            shell.command("dpress", "check", spec),
            self._new_ledger(ledger),
            shell.command("dpress", "publish", spec, *period, shell.option("ledger", ledger), shell.option("out", out)),
            shell.command("dpress", "report", out),
        ]

    def _commands_in_sql(self, wish: Wish) -> list[str]:
        """Return the commands that plan, publish and show the answers to a wish's statements."""
        spec, out, ledger = (str(self.folder / name) for name in (f"{wish.name}.toml", wish.name, LEDGER))
        sql = shell.option("sql", str(self.folder / f"{wish.name}.sql"))
        return [
            shell.command("dpress", "plan", spec, sql),
            self._new_ledger(ledger),
            shell.command("dpress", "publish", spec, sql, shell.option("ledger", ledger), shell.option("out", out)),
            shell.command("dpress", "query", out, shell.option("statement", "1")),
        ]

    def _new_ledger(self, ledger: str) -> str:
        """Return the command that makes the ledger of all wishes."""
        draft = self.draft
        limit = {name: text for name in ("epsilon", "delta") if (text := getattr(draft, name))}
        person = {"unit": draft.person, "rows-per-unit": draft.rows_per_unit} if draft.unit == "person" else {}
        budget = [shell.option(*pair) for pair in {**limit, **person, "relation": draft.relation}.items()]
        return shell.command("dpress", "ledger", "create", ledger, *budget)


def without_passwords(draft: Draft) -> Draft:
    """Return a draft whose fields that name a URL with a password are empty."""
    empty = {"source": ""} if holds_password(draft.source.strip()) else {}
    empty |= {name: "" for name in PUBLISHED if mentions_password(getattr(draft, name))}
    return msgspec.structs.replace(draft, **empty)


def file_format(draft: Draft) -> FileFormat:
    """Return how a file of text is written, as typed.

    Raises:
        ValueError: it is no format, or the first line is not stated to have the names.
    """
    stated = {name: value for name, value in written.data_of(draft).items() if name != "source" and value is not None}
    if written.is_text(draft.source.strip()) and not draft.names_in_first_line:
        raise ValueError(
            "$.data.header: say that the first line of the file holds the names of the columns, for it would be shown "
            "here; if it is a row about somebody, write the names into the specification yourself"
        )
    return msgspec.convert(stated, FileFormat)
