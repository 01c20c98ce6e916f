"""A session: statement after statement of one table, each with its error before it is paid for, all under one ledger.

statement -> what earlier ones say of it for nothing -> a plan under the budget that is proposed; no row is read
-> accepted: charged, drawn and kept -> the table, together with what was measured before.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from dpress.core.basics import notebook
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.core.basics.losses.any_loss import describe
from dpress.core.basics.losses.loss import Amounts
from dpress.data.specification.spec import Asked, Spec, load_spec
from dpress.ledger.analysts import NOBODY, Share
from dpress.ledger.ledger import Ledger
from dpress.query.published_tables import CONFIDENCE
from dpress.query.sql.reader import statements
from dpress.query.sql.sql_table import SqlTable
from dpress.release.plan.plan_for_error import LEAST, MOST, least_budget
from dpress.release.statements.listed_values import check_values
from dpress.release.statements.plan_statements import ANY, NumberError, StatementsPlan, plan_statements
from dpress.release.statements.publish_statements import charges_of, publish_statements
from dpress.release.statements.same_rows import usable
from dpress.release.statements.session_folder import Accepted, accept_in, accepted_in, forget
from dpress.release.statements.session_squares import Reading
from dpress.release.statements.specifications import columns_of
from dpress.release.statements.together import Combined, Together

TENTH = 10  # the part of the limit that is proposed unless another is stated
DIGITS = 3  # of a budget that is proposed
FOLDER = "-session"


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What may still be spent.

    Args:
        whole: of the ledger's limit, by the names of its parameters.
        share: the analyst's; None where the ledger has no shares.
    """

    whole: Amounts
    share: Share | None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Proposal:
    """A statement before anything is charged.

    Args:
        planned: its releases under the budget that is proposed.
        free: what earlier statements say of it for nothing; None where they do not.
        session: that accepts it.
    """

    planned: StatementsPlan
    free: Combined | None
    session: "Session" = field(compare=False)

    @property
    def spend(self) -> float:
        """The budget, in the first parameter of the ledger's limit."""
        return float(self.planned.spec.privacy.loss.amount)

    @property
    def errors(self) -> tuple[NumberError, ...]:
        """The typical error of every number, and under twice the budget."""
        return self.planned.errors[0]

    def __repr__(self) -> str:
        return f"Proposal({self.planned.sql}: {describe(self.planned.spec.privacy.loss)})"

    def _repr_html_(self) -> str:
        rows = [
            (each.name, "the rows decide it" if each.error is None else f"+- {each.error:,.3g}") for each in self.errors
        ]
        free = "" if self.free is None else notebook.line("Earlier statements answer it for nothing: see `free.table`.")
        budget = describe(self.planned.spec.privacy.loss)
        return (
            notebook.line(self.planned.sql, strong=True)
            + notebook.table(("number", "typical error"), rows, numbers=(1,))
            + notebook.line(f"Nothing is charged yet; {budget} is as soon as the session accepts it.")
            + free
        )


class Session:
    """Statements of SQL over one table, under a budget that a ledger keeps.

    What is accepted is kept in a folder, with which a session goes on another day; what was charged is never lost.

    Args:
        spec: the specification, or its file, text or plain objects, with or without `[release]`.
        data: as `publish` takes it; left out, the specification's source. It is not read before a statement is
            accepted, and should stay as it is: answers of different days are taken to be of the same rows.
        ledger: pays; a new one has the specification's budget as its limit.
        analyst: whose share of the ledger's limit pays; left out, what no analyst has a share of.
        out: the session's folder; left out, that of the specification's file, `people-session` of `people.toml`.
        confidence: of every interval.

    Raises:
        NotSupported: it is of devices, which answer no statements.
        SchemaMismatch: the folder holds a session of another specification.
        ValueError: the ledger has no such analyst, or was edited; `spec` is no file, and no folder is named.

    >>> import tempfile, pyarrow as pa
    >>> ward = {"name": "ward", "kind": "categorical", "values": ["eyes", "ear"]}
    >>> spec, rows = {"attribute": [ward], "privacy": {"epsilon": 1}}, pa.table({"ward": ["eyes"] * 30})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     session = Session(spec, rows, ledger=f"{folder}/budget.sqlite", out=f"{folder}/visits")
    ...     proposed = session.propose("select ward, count(*) from visits group by ward", spend=0.25)
    ...     print(round(proposed.errors[0].error, 1), session.accept(proposed), session.left.whole)
    5.6 SqlTable(2 rows: ward, count, count_error, count_low, count_high) {'epsilon': Fraction(3, 4)}
    """

    def __init__(
        self,
        spec: Asked,
        data: Any = None,
        *,
        ledger: Ledger | str | Path,
        analyst: str | None = None,
        out: str | Path | None = None,
        confidence: float = CONFIDENCE,
    ) -> None:
        """Open the ledger and the folder; neither is written to unless the ledger is new."""
        self.spec = spec if isinstance(spec, Spec) else load_spec(spec, release=ANY)
        if self.spec.privacy.model == "local":
            raise NotSupported('$.privacy.model: a session is of a table; "local" asks devices')
        self.data, self.confidence, self.analyst = data, confidence, analyst or NOBODY
        self.folder = Path(out) if out is not None else _folder_of(spec, self.analyst)
        if strange := [each for each in accepted_in(self.folder) if each.spec != self.spec.hash]:
            raise SchemaMismatch(
                f"{self.folder}: statement {strange[0].number} is of another specification; choose another folder"
            )
        self.ledger = Ledger.at(ledger) or _new_ledger(str(ledger), self.spec, self.analyst)
        self.limit = self.ledger.summary().limit
        self._loaded: dict[tuple[int, str], Reading] = {}
        self._paid_for: list[tuple[int, Proposal]] = []
        _ = self.left

    def __repr__(self) -> str:
        return f"Session({self.folder}: {len(self.history)} statements)"

    def _repr_html_(self) -> str:
        rows = [
            (str(each.number), each.sql, describe(each.budget), each.analyst or "all", "yes" if each.whole else "no")
            for each in self.history
        ]
        header = ("", "statement", "budget", "whose share", "published")
        left = ", ".join(f"{name} = {float(amount):g}" for name, amount in self.left.whole.items())
        return (
            notebook.line(f"SQL in {self.folder}", strong=True)
            + notebook.table(header, rows, numbers=(0,))
            + notebook.line(f"Of the ledger {left} is left.")
        )

    @property
    def history(self) -> tuple[Accepted, ...]:
        """Every statement that was accepted, in order."""
        return accepted_in(self.folder)

    @property
    def left(self) -> Left:
        """What may still be spent, by all together and by the analyst.

        Raises:
            ValueError: the ledger has no share for the analyst.
        """
        summary = self.ledger.summary()
        if self.analyst not in summary.shares and (self.analyst or summary.shares):
            names = ", ".join(name for name in summary.shares if name) or "nobody"
            raise ValueError(f"the ledger has no share for the analyst {self.analyst!r}; it has shares for {names}")
        return Left(whole=summary.remaining, share=summary.shares.get(self.analyst))

    def propose(self, sql: str, *, spend: float | None = None, within: float | None = None) -> Proposal:
        """Return what a statement would say and cost; no row is read, nothing is charged.

        Error: see `plan_statements`.

        Args:
            sql: one statement.
            spend: its budget, in the first parameter of the ledger's limit; left out, a tenth of what the analyst may
                spend in all, or what is left.
            within: in its place, the typical error of the first number that the smallest budget is wished for.

        Raises:
            SqlRefusal: it cannot be read, names a column or value that the specification does not list, or is of a form
                that has no answer.
            BudgetExceeded: the ledger cannot pay for it.
            NotSupported: no method serves it, or no budget has such an error.
        """
        if spend is not None and within is not None:
            raise ValueError("state the budget, or the error that it is wished for, not both")
        first = self._planned(sql, self.usual if spend is None else spend)
        planned = first if within is None else self._within(sql, first, within)
        free = self._together(sql).for_nothing()
        proposal = Proposal(planned=planned, free=free, session=self)
        if free is None:
            self.check(proposal)
        return proposal

    def check(self, proposal: Proposal) -> None:
        """Refuse what the ledger cannot pay for.

        Raises:
            BudgetExceeded: it cannot.
        """
        self.ledger.check_all(charges_of(proposal.planned), self.spec.privacy.protected, self.analyst)

    def accept(self, proposal: Proposal, **options: Any) -> SqlTable:
        """Charge for a proposal, draw, and return its table, its counts together with what was measured before.

        Error: of a count that an earlier statement measured as well, that of both together, which is less than either;
        of any other number that of `Release.query`.

        Args:
            proposal: as `propose` returns it.
            options: as `publish` takes them: `engine`, `progress`, `who`.

        Raises:
            BudgetExceeded: the ledger cannot pay; nothing was read or charged.
            SchemaMismatch, OSError: see `publish`. Where something was charged, `resume` goes on with it.
            ValueError: it is no proposal, another session's, or was accepted already: a cell of a notebook that is run
                again pays once.
        """
        if not hasattr(proposal, "planned"):
            raise ValueError("expected a proposal, as session.propose('select ...') returns it")
        if proposal.session is not self:
            raise ValueError("the proposal is of another session, which accepts it; propose the statement in this one")
        for number, paid in self._paid_for:
            if paid is proposal:
                again = "propose the statement again to pay for it again"
                raise ValueError(
                    f"it was accepted as statement {number}; session.answer({number}) shows it, or {again}"
                )
        self.check(proposal)
        planned = proposal.planned
        accepted = accept_in(
            self.folder,
            sql=planned.sql,
            spec=self.spec.hash,
            budget=planned.spec.privacy.loss,
            analyst=self.analyst,
        )
        self._paid_for.append((accepted.number, proposal))
        return self._paid(accepted, planned, **options)

    def resume(self, number: int, **options: Any) -> SqlTable:
        """Measure what is missing of a statement that was interrupted, by the designs that were kept.

        Raises:
            BudgetExceeded, SchemaMismatch, OSError: see `accept`.
        """
        accepted = self.accepted(number)
        planned = self._planned(accepted.sql, float(accepted.budget.amount), float(accepted.budget.delta))
        return self._paid(accepted, planned, **options)

    def answer(self, number: int) -> SqlTable:
        """Return the table of a statement, its counts together with those of all other statements.

        Raises:
            ValueError: there is no such statement.
            SchemaMismatch: it was interrupted.
        """
        accepted = self.accepted(number)
        if not accepted.whole:
            raise SchemaMismatch(f"statement {number} was interrupted; `resume {number}` measures what is missing")
        together = self._together(accepted.sql)
        (first,) = (each for each in together.readings if each.number == number)
        return together.answer(first).table

    def accepted(self, number: int) -> Accepted:
        """Return a statement of the history.

        Raises:
            ValueError: there is no such statement.
        """
        history = self.history
        for each in history:
            if each.number == number:
                return each
        raise ValueError(f"there are {len(history)} statements, got {number}")

    @property
    def usual(self) -> float:
        """The budget that is proposed unless one is stated: a tenth of the limit or share, or what is left of it."""
        left = self.left
        whole = self.limit.amount if left.share is None else left.share.limit
        amount = left.whole[self.limit.names[0]] if left.share is None else left.share.remaining
        tenth = whole / TENTH
        return _rounded_down(min(tenth, amount) if amount > 0 else tenth or self.limit.amount / TENTH)

    def _together(self, sql: str) -> Together:
        readings = usable(self.spec, sql, self.history, self._loaded)
        return Together(spec=self.spec, sql=sql, readings=readings, confidence=self.confidence)

    def _planned(self, sql: str, spend: float, delta: float | None = None) -> StatementsPlan:
        """Return the plan of one statement under a budget; beside a delta, the same part of that unless it is given."""
        budget: dict[str, float | None] = {"epsilon": None, "rho": None, "delta": None, self.limit.names[0]: spend}
        if len(self.limit.names) > 1:
            budget["delta"] = delta or float(self.limit.delta * Fraction(repr(spend)) / self.limit.amount)
        privacy = msgspec.structs.replace(self.spec.privacy, **budget)
        read = statements(sql, columns_of(self.spec, sql))
        if len(read) > 1:
            raise ValueError(f"{len(read)} statements; give them one at a time")
        check_values(read, self.spec.attribute, sql)
        return plan_statements(msgspec.structs.replace(self.spec, privacy=privacy), sql)

    def _within(self, sql: str, first: StatementsPlan, error: float) -> StatementsPlan:
        """Return the plan under the smallest budget at which the first number errs so much."""
        if not 0 < error < math.inf:
            raise ValueError(f"within: expected an error above 0, got {error!r}")

        def typical(budget: float) -> float:
            typical_error = _first(self._planned(sql, budget).errors[0])
            if typical_error is None:
                raise NotSupported("the rows decide the error of the first number: state a budget, `spend 0.1`")
            return typical_error

        power = 2 if self.limit.names[0] == "rho" else 1
        typical_error, spent = _first(first.errors[0]), float(first.spec.privacy.loss.amount)
        near = spent if not typical_error else min(max(LEAST, spent * (typical_error / error) ** power), MOST)
        budget = least_budget(lambda budget: typical(budget) <= error, near)
        if budget is None:
            raise NotSupported(f"no {self.limit.names[0]} up to {MOST:g} has a typical error of {error:g}")
        return self._planned(sql, budget)

    def _paid(self, accepted: Accepted, planned: StatementsPlan, **options: Any) -> SqlTable:
        named = {"who": self.analyst, "analyst": accepted.analyst, **options}
        try:
            publish_statements(planned, self.data, out=accepted.folder, ledger=self.ledger, **named)
        except BaseException:
            charged = [Path(entry.release) for entry in self.ledger.summary().entries if entry.release]
            if not any(release.is_relative_to(accepted.folder) for release in charged):
                forget(accepted)
            raise
        cost = f"{describe(accepted.budget)} was charged for statement {accepted.number}."
        return replace(self.answer(accepted.number), cost=cost)


def _folder_of(spec: Asked, analyst: str) -> Path:
    """Return the folder of a session whose specification is a file: beside whoever asks, named as the file is."""
    if not isinstance(spec, str | Path) or "\n" in str(spec):
        raise ValueError("name the session's folder: Session(spec, ..., out='visits-session')")
    return Path(Path(spec).stem + FOLDER + (f"-{analyst}" if analyst.isidentifier() else ""))


def _new_ledger(place: str, spec: Spec, analyst: str) -> Ledger:
    """Return a new ledger with the specification's budget as its limit, in which nobody has a share."""
    if analyst:
        raise ValueError(f"no ledger at {place}: `dpress ledger create --analyst {analyst}=0.5` makes one with a share")
    return Ledger.create(place, limit=spec.privacy.loss, unit=spec.privacy.protected)


def _first(errors: Sequence[NumberError]) -> float | None:
    return errors[0].error if errors else None


def _rounded_down(amount: Fraction) -> float:
    """Return a budget in three digits, not above it."""
    step = Fraction(10) ** (math.floor(math.log10(amount)) - DIGITS + 1)
    return float(math.floor(amount / step) * step)
