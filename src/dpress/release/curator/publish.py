"""The one pipeline of a central release: count, charge, measure, write."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import UNSET

from dpress import catalog
from dpress.attributes.discovered import with_discovered
from dpress.core.basics import check
from dpress.core.basics.clock import now
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.extras import scipy
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.read import from_parameters
from dpress.core.basics.rng import Generator
from dpress.core.methods.mechanism import CuratorMechanism, Drawn, Mechanism
from dpress.core.methods.table_sums import Found
from dpress.data.add_up import Progress
from dpress.data.specification.spec import Asked, Spec
from dpress.data.table_rows import TableRows
from dpress.document.design import Design, acting, fingerprint
from dpress.inference.postprocess import NAMES
from dpress.ledger.ledger import Ledger, Verification, verify
from dpress.query.designs import central_ask, charge, mechanism_of
from dpress.query.folder import check_new
from dpress.query.release import Release, with_typical
from dpress.release.curator.ledger_heads import heads_beside
from dpress.release.curator.memory_needed import check_needed
from dpress.release.curator.paid import Account, paid
from dpress.release.curator.unfinished import begun_design, unfinished
from dpress.release.plan.plan import Plan, design_of, understood
from dpress.release.source_rows import rows_of, source_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """What a ledger pays for a release that is one of several.

    Args:
        limit: of a new ledger: the loss of all of them.
        price: what is charged; left out, the release's own loss.
        label: what the ledger calls it; left out, as the release is called.
        partition: the part of the table that the rows are limited to; left out, all of it.
        touched: how many such parts one unit can be in.
        analyst: whose share of the ledger's limit pays; empty where nobody's does.
    """

    limit: Loss
    price: Loss | None = None
    label: str = ""
    partition: str | None = None
    touched: int | None = None
    analyst: str = ""

    @property
    def part(self) -> dict[str, Any]:
        """The part and the analyst, as a ledger takes them."""
        return {"partition": self.partition, "touched": self.touched, "analyst": self.analyst}


def publish(
    asked: Asked | Plan | Design,
    data: Any = None,
    *,
    ledger: Ledger | str | Path | None = None,
    out: str | Path | None = None,
    who: str = "",
    analyst: str = "",
    payment: Payment | None = None,
    allow_unproven: bool = False,
    csv: bool = False,
    titles: bool = False,
    engine: str | None = None,
    rng: Generator | None = None,
    progress: Progress | None = None,
    writing: Progress | None = None,
    fitting: Progress | None = None,
) -> Release:
    """Count a table, add noise, and return the release.

    Whatever can fail for reasons that are not the disk's fails before the budget is charged; the charge is made before
    the noise is drawn, and stands from then on.

    Args:
        asked: a design; or what is wanted, which is planned on the spot: a plan, a specification, its file, its TOML
            text, or plain objects.
        data: a file, a folder, a glob, `DATABASE#TABLE`, or a table in Python; left out, the specification's source.
        ledger: pays for the release; a path, or the URL of a database in PostgreSQL, where there is none yet becomes
            a ledger whose limit is the budget.
            Without one, nothing guards the table against being published again and again.
        out: a new folder to write the release to.
        payment: what the ledger pays, where the release is one of several; left out, the release's own loss.
        who: publishes; the ledger names them beside the charge, nothing else does.
        analyst: whose share of the ledger's limit pays; left out, what no analyst has a share of.
        allow_unproven: also run a method whose published claim has no proof.
        csv: write every table and the records as CSV, too.
        titles: in these titles, with units, in the place of names, and labels in that of values.
        engine: "threads" here, "sql" where the rows are, or "spark"; left out, the one that the source suggests. The
            counts are the same.
        rng: left out, a secure generator; a seeded one stamps the release "not private".
        progress: called with the number of rows counted so far.
        writing: called with the number of cells written so far.
        fitting: called with how much is done of what is fitted to the noisy counts before they are written.

    Raises:
        BudgetExceeded: the ledger cannot pay; nothing was read or charged.
        NotSupported: no method serves the specification, or the method is unproven.
        SchemaMismatch: the data does not fit the design; nothing was charged.
        ValueError: the ledger protects somebody else, or lacks lines that releases beside `out` keep.
        OSError: the data cannot be read (nothing was charged; unless a table too large for memory changes between two
            passes over it), or the release cannot be written (the charge stands).

    >>> import dpress, pyarrow as pa
    >>> age = {"name": "age", "kind": "integer", "bounds": [0, 99], "bins": 10}
    >>> plain = {"attribute": [age], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}
    >>> release = dpress.publish(plain, pa.table({"age": [31, 35, 62]}))
    >>> release.claim.proven
    PureDP(epsilon=Fraction(1, 1))
    """
    check.line("who", who)
    asked = understood(asked)
    check_whole(asked)
    design = design_of(asked)
    design = design if rng is not None or out is None else begun_design(out, design)
    source = rows_of(design, source_of(asked, data), engine=engine)
    mechanism = _mechanism(design)
    charged, unit = charge(mechanism, design.method, allow_unproven=allow_unproven), mechanism.claim.unit
    payment = payment or Payment(limit=from_parameters(design.budget), analyst=analyst)
    price, existing = payment.price or charged, Ledger.at(ledger)
    kept = None if rng is not None or out is None else unfinished(out, design, source)
    if existing is not None and (kept is None or not kept.charged(existing)):
        existing.check(price, unit, **payment.part)
    if out is not None:
        _check_place(out, existing)
    check_needed(design, mechanism, source, csv=csv)
    sums = None if kept is None else kept.sums()
    rows = TableRows(schema=design.schema, source=source, unit=unit, progress=progress, kept=sums)
    line = _line(design, payment, out, who)
    account = Account(ledger=existing or ledger, limit=payment.limit, price=price, unit=unit, line=line)

    def finish(drawn: Drawn, generator: Generator, then: Verification | None) -> Release:
        release = replace(_released(mechanism, drawn, design, charged, rng=generator), csv=csv, titles=titles)
        if then is not None:
            release = replace(release, ledger=then.first, ledger_head=then.head)
        if out is not None:
            _write(release, out, writing, fitting)
        return release

    return paid(lambda: mechanism.prepare(rows), account, finish, rng=rng, kept=kept)


def _mechanism(design: Design) -> CuratorMechanism:
    """Return what measures the table of a design; refuse, before the charge, what cannot be published here."""
    if design.local:
        raise NotSupported('$.privacy.model: "local" is collected: `dpress perturb` and `dpress estimate`')
    mechanism = cast("CuratorMechanism", mechanism_of(design))  # the design of a table describes no other
    _check_scipy(design, mechanism)
    return mechanism


def _check_place(out: str | Path, account: Ledger | None) -> None:
    """Refuse a folder that is there already, and one beside releases whose lines the ledger has lost."""
    if account is not None:
        check_newest(account, out)
    check_new(out)


def _line(design: Design, payment: Payment, out: str | Path | None, who: str) -> dict[str, Any]:
    """Return what the ledger notes beside the loss: what was released, of which specification, where and by whom."""
    named = {"label": payment.label or label_of(design), "spec": fingerprint(design.specification)}
    return {"design": design.id, **named, "release": "" if out is None else str(out), "who": who, **payment.part}


def check_newest(account: Ledger, out: str | Path) -> None:
    """Refuse a ledger that has lost lines which releases beside a new one keep: an older copy was put back.

    Raises:
        ValueError: it has; what was charged since is forgotten, and would be drawn again for nothing.
        OSError: it cannot be read.
    """
    if kept := heads_beside(out, verify(account.path).first):
        verify(account.path, kept=kept)


def check_whole(design: Spec | Plan | Design) -> None:
    """Refuse a specification that is published period by period.

    Raises:
        ValueError: it is.
    """
    if design.periods is not UNSET:
        raise ValueError("$.periods: it is published period by period: name one, `dpress publish --period`")


def label_of(design: Design) -> str:
    """Return what a ledger calls a release: its title; without one its kind and its method."""
    release = design.specification.get("release")
    title = release.get("title") if isinstance(release, dict) else None
    given = f", given {design.claim.given}" if design.claim.given else ""
    return str(title or f"{design.release['kind']} by {design.method}") + given


def _released(
    mechanism: Mechanism,
    drawn: Drawn,
    design: Design,
    charged: Loss,
    *,
    rng: Generator,
) -> Release:
    """Return the release of what was drawn, before it knows of a ledger."""
    if drawn.mechanism is not None:
        mechanism, design = drawn.mechanism, _completed(design, drawn.mechanism, drawn.found)
    kept = catalog.room(design.kind).answering.measured(mechanism, drawn.output, design.schema, rng)
    release = Release(
        design=design,
        kept=kept.answers,
        detail=kept.detail,
        charged=charged,
        private=rng.private,
        created=now(),
        predicted=design.prediction.error,
    )
    return with_typical(release)


def _completed(design: Design, mechanism: Mechanism, discovered: Found) -> Design:
    """Return the design of a mechanism that knows what was found, as its attributes do."""
    attributes = with_discovered(design.attributes, discovered)
    coded = acting(attributes, design.ask.attributes)
    return msgspec.structs.replace(design, attributes=attributes, ask=central_ask(mechanism, coded))


def _check_scipy(design: Design, mechanism: Mechanism) -> None:
    """Refuse, before the charge, what would fail after it for want of SciPy."""
    steps = (NAMES[name] for name in design.release["postprocess"])
    by_mechanism = getattr(mechanism, "scipy", False) or catalog.kinds()[design.kind].scipy
    if by_mechanism or any(step.scipy for step in steps):
        scipy("special")


def _write(release: Release, out: str | Path, progress: Progress | None, fitting: Progress | None) -> None:
    try:
        release.write(out, progress=progress, refitted=fitting)
    except OSError as error:
        raise OSError(f"cannot write {out}: {error.strerror or error}") from None
