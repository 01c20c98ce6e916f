"""What a session at a terminal does with each line that is typed."""

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from dpress.cli.output import counting, number, print_json, print_table, refusal
from dpress.cli.statements import plain_answer, print_answer
from dpress.core.basics.check import float_down
from dpress.core.basics.errors import BudgetExceeded
from dpress.core.basics.losses.any_loss import as_floats, describe
from dpress.core.basics.refusal import one_line
from dpress.query.sql.sql_refusal import SqlRefusal
from dpress.query.sql.sql_table import FREE, SqlTable
from dpress.release.statements.statements_text import unlisted

if TYPE_CHECKING:
    from dpress.release.statements.sql_session import Proposal, Session
    from dpress.release.statements.together import Combined

COUNT = 1000  # that `within 5 %` is of
WITHIN = re.compile(r"([\d.]+)\s*%(?:\s+of\s+([\d.,]*\d))?")
HELP = """\
A line is a statement, such as  select ward, count(*) from visits group by ward
spend 0.1          the budget of the statement, in the ledger's loss; of the next one where there is none
within 5 %         the smallest budget at which its first number errs by 5 % of 1,000; within 5 % of 2,000
y, n               accept it: it is charged and drawn, and cannot be undone; or leave it
free               the answer for nothing, where earlier statements have one
history, show 2    every statement that was accepted; the table of the second
left               what may still be spent
resume 3           measure what is missing of a statement that was interrupted
quit"""
NEXT = "y accepts, n leaves it; or spend 0.2, within 5 %"


@dataclass(kw_only=True)
class Loop:
    """A session at a terminal.

    Args:
        session: that is asked.
        engine: that counts the rows.
        quiet: whether progress and what a session begins with are left out.
        as_json: whether JSON is all that is printed, at the end.
        spend: the budget of the next statement; None for the usual one.
        within: the error that its budget is wished for, in its place.
        sql: the statement that waits for an answer; empty where none does.
        proposal: what it would say and cost.
        refused: whether anything was.
        shown: the tables that were shown, which JSON has at the end.
    """

    session: "Session"
    engine: str | None
    quiet: bool
    as_json: bool
    spend: float | None = None
    within: float | None = None
    sql: str = ""
    proposal: "Proposal | None" = None
    refused: bool = False
    shown: list[SqlTable] = field(default_factory=list)

    def begin(self) -> None:
        """Say where the session is, and what is left of it."""
        if self.quiet:
            return
        count = len(self.session.history)
        self._say(f"Session: {self.session.folder}, {count} statements so far; help lists what can be typed")
        self.show_left("")
        for each in self.session.history:
            if not each.whole:
                self._say(f"Statement {each.number} was interrupted: resume {each.number} measures what is missing")

    def hear(self, line: str) -> bool:
        """Do what a line says; return whether the session goes on."""
        word, _, rest = line.partition(" ")
        if word.lower() in ("quit", "exit"):
            return False
        try:
            if act := ACTS.get(word.lower().rstrip(";")):
                act(self, rest.strip().rstrip(";"))
            elif line:
                self._propose(line, **self._wish())
        except SqlRefusal as error:
            if error.caret:
                click.echo(error.caret, err=True)
            self._refuse(error)
        except (ValueError, OSError, BudgetExceeded) as error:
            self._refuse(error)
        return True

    def end(self) -> None:
        """Say that a statement that waits was not charged; exit code 1 where a script's line was refused."""
        if self.sql and not self.quiet:
            self._say("Nothing was charged for the last statement: it was not accepted.")
        if self.as_json:
            print_json(self._plain())
        if self.refused and not sys.stdin.isatty():
            sys.exit(1)

    def _refuse(self, error: Exception) -> None:
        self.refused = True
        refusal(one_line(error))

    def _say(self, text: str) -> None:
        if not self.as_json:
            click.echo(text)

    def _propose(self, sql: str, **wish: float) -> None:
        """Show what a statement would say and cost."""
        self.sql, self.proposal = "", None
        proposal = self.session.propose(sql, **wish)
        self.sql, self.proposal = sql, proposal
        if proposal.free is not None:
            self._say(f"Answered by {_by(proposal.free)} for nothing: {_error(proposal.free.error)}; free shows it")
        self._say(f"{describe(proposal.planned.spec.privacy.loss)} would say:")
        for error in proposal.errors:
            self._say(f"  {error.name}: {_error(error.error)}; with twice the budget {_error(error.twice)}")
        for remark in unlisted(proposal.planned):
            self._say(remark)
        self._say(f"Nothing is charged yet: {NEXT}")

    def _wish(self) -> dict[str, float]:
        """Return the budget of a statement, or the error that it is wished for, where either was stated."""
        if self.within is not None:
            within, self.within = self.within, None
            return {"within": within}
        return {} if self.spend is None else {"spend": self.spend}

    def set_spend(self, rest: str) -> None:
        """Set the budget of the statement that waits, else of those that follow."""
        spend = _number(rest, "spend 0.1")
        if self.sql:
            self._again(spend=spend)
        else:
            self.spend = spend

    def set_within(self, rest: str) -> None:
        """Set the error of the statement that waits, else of the next one."""
        wished = WITHIN.fullmatch(rest)
        if wished is None:
            raise ValueError(f"expected an error such as within 5 %, or within 5 % of 2,000, got {rest!r}")
        percent, count = _number(wished[1], "within 5 %"), _number(wished[2] or str(COUNT), "within 5 % of 2,000")
        wish = percent * count / 100
        if self.sql:
            self._again(within=wish)
        else:
            self.within = wish

    def _again(self, **wish: float) -> None:
        """Propose the statement that waits under another budget; it goes on waiting where that is refused."""
        sql = self.sql
        try:
            self._propose(sql, **wish)
        finally:
            self.sql = sql

    def accept(self, rest: str) -> None:
        """Charge, draw, and show the table."""
        del rest
        if self.proposal is None:
            raise ValueError("there is no statement to accept; write one first")
        proposal, self.sql, self.proposal = self.proposal, "", None
        with counting(quiet=self.quiet) as progress:
            table = self.session.accept(proposal, engine=self.engine, progress=progress)
        self._show(table)
        self.show_left(f"Charged for statement {self.session.history[-1].number}. ")

    def leave(self, rest: str) -> None:
        """Forget the statement that waits."""
        del rest
        self.sql, self.proposal = "", None
        self._say("Nothing was charged.")

    def show_free(self, rest: str) -> None:
        """Show what earlier statements say of the one that waits."""
        del rest
        if self.proposal is None or self.proposal.free is None:
            raise ValueError("no earlier statement answers for nothing")
        free, self.sql, self.proposal = self.proposal.free, "", None
        self._show(free.table)
        self._say(FREE)

    def show_history(self, rest: str) -> None:
        """Show every statement that was accepted."""
        del rest
        rows = [
            [
                str(each.number),
                " ".join(each.sql.split()),
                describe(each.budget),
                "answered" if each.whole else "interrupted",
            ]
            for each in self.session.history
        ]
        if not self.as_json:
            print_table(("", "statement", "budget", "state"), rows)

    def show_answer(self, rest: str) -> None:
        """Show the table of a statement that was accepted."""
        self._show(self.session.answer(_whole(rest, "show 2")))

    def resume(self, rest: str) -> None:
        """Measure what is missing of a statement, and show its table."""
        with counting(quiet=self.quiet) as progress:
            table = self.session.resume(_whole(rest, "resume 3"), engine=self.engine, progress=progress)
        self._show(table)
        self.show_left("")

    def _show(self, table: SqlTable) -> None:
        self.shown.append(table)
        if not self.as_json:
            print_answer(table)

    def show_left(self, before: str) -> None:
        """Say what may still be spent, behind another sentence."""
        left, name = self.session.left, self.session.limit.names[0]
        whole = ", ".join(f"{key} = {number(float_down(amount))}" for key, amount in left.whole.items())
        whose = f" of {self.session.analyst}'s share" if self.session.analyst else " beside the analysts' shares"
        share = "" if left.share is None else f"; {name} = {number(float_down(left.share.remaining))}{whose}"
        self._say(f"{before}Left: {whole}{share}")

    def show_help(self, rest: str) -> None:
        """Say what can be typed."""
        del rest
        self._say(HELP)

    def _plain(self) -> dict[str, Any]:
        """Return the session for JSON: every statement with its budget, the tables that were shown, what is left."""
        left = self.session.left
        share = {} if left.share is None else {"share": float_down(left.share.remaining)}
        return {
            "session": str(self.session.folder),
            "statements": [
                {
                    "number": each.number,
                    "statement": each.sql,
                    "budget": as_floats(each.budget),
                    "analyst": each.analyst,
                    "whole": each.whole,
                }
                for each in self.session.history
            ],
            "answers": [plain_answer(table) for table in self.shown],
            "left": {"whole": {key: float_down(amount) for key, amount in left.whole.items()}, **share},
        }


ACTS: Mapping[str, Callable[[Loop, str], None]] = {
    "spend": Loop.set_spend,
    "within": Loop.set_within,
    "y": Loop.accept,
    "yes": Loop.accept,
    "n": Loop.leave,
    "no": Loop.leave,
    "free": Loop.show_free,
    "history": Loop.show_history,
    "show": Loop.show_answer,
    "left": lambda loop, _: loop.show_left(""),
    "resume": Loop.resume,
    "help": Loop.show_help,
}


def _by(free: "Combined") -> str:
    numbers = ", ".join(map(str, free.numbers))
    return f"statement {numbers}" if len(free.numbers) == 1 else f"statements {numbers} together"


def _error(error: float | None) -> str:
    return "its error depends on the rows" if error is None else f"+- {error:,.3g}"


def _number(text: str, example: str) -> float:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        raise ValueError(f"expected a number, such as {example}, got {text!r}") from None


def _whole(text: str, example: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"expected the number of a statement, such as {example}, got {text!r}")
    return int(text)
