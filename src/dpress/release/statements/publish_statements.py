"""Publishes what a plan for statements says: a folder with a release for each part, and which statement each answers.

plan -> `statements.json` and the designs -> the releases, one after the other, each paid for before it is drawn. What
is there is never drawn again: a folder that was interrupted is gone on with.
"""

import shutil
from pathlib import Path
from typing import Any, cast

from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.new_path import new_path
from dpress.core.basics.rng import Generator
from dpress.core.methods.mechanism import CuratorMechanism
from dpress.data.add_up import Progress
from dpress.data.table_rows import TableRows
from dpress.document.design import Design
from dpress.ledger.compose import Charge
from dpress.ledger.ledger import Ledger
from dpress.query.designs import charge, load_design, mechanism_of, save_design
from dpress.query.folder import STATEMENTS
from dpress.query.sql.statements_folder import Statements, load_statements, write_statements
from dpress.release.curator.publish import Payment, publish
from dpress.release.source_rows import rows_of, source_of
from dpress.release.statements.joined_rows import rows_over
from dpress.release.statements.plan_statements import StatementsPlan


def publish_statements(
    planned: StatementsPlan,
    data: Any = None,
    *,
    out: str | Path,
    ledger: Ledger | str | Path | None = None,
    limit: Loss | None = None,
    analyst: str = "",
    rng: Generator | None = None,
    **options: Any,
) -> Statements:
    """Publish releases that answer statements, and return them.

    Args:
        planned: the plan.
        data: as `publish` takes it; left out, the specification's source. Where statements join tables, the database
            that has them.
        out: a new folder; or one that this plan's statements began and that was interrupted: only what is missing is
            measured and paid for, by the designs that it keeps.
        ledger: pays for each release before its noise is drawn.
        limit: of a ledger that is new; left out, the specification's budget.
        analyst: whose share of the ledger's limit pays; empty where nobody's does.
        rng: as of `publish`; every release draws from a stream of its own.
        options: as `publish` takes them.

    A new folder in which nothing was measured in the end is taken away again.

    Raises:
        BudgetExceeded: the ledger cannot pay for all of them; nothing was read or charged.
        SchemaMismatch: the rows do not fit one of them; nothing was charged.
        OSError: see `publish`. What was measured is in the folder.
    """
    folder, spec = Path(out), planned.spec
    source = rows_over(spec, planned.sql, data if data is not None else spec.source)
    goes_on = (folder / STATEMENTS).is_file()
    if goes_on:
        kept = load_statements(folder, whole=False)
        if (kept.sql, kept.spec) != (planned.sql, spec.hash):
            raise OSError(f"{folder} holds the answers to other statements; choose another folder")
    else:
        _check_budget(planned, ledger, analyst, allow_unproven=options.get("allow_unproven", False))
        kept = _begun(planned, folder)
    streams = {name: None if rng is None else rng.spawn() for name in kept.answered}
    try:
        designs = {name: load_design(folder / f"{name}.design.json") for name in kept.missing}
        for design in [*designs.values()][1:]:  # the first is counted before its charge anyway
            _check_rows(design, source, engine=options.get("engine"), progress=options.get("progress"))
        for name, design in designs.items():
            publish(
                design,
                source,
                out=folder / name,
                ledger=ledger,
                payment=Payment(limit=limit or spec.privacy.loss, analyst=analyst),
                rng=streams[name],
                **options,
            )
    finally:
        if not goes_on and len(kept.missing) == len(kept.answered):  # nothing was measured: a corrected try is welcome
            shutil.rmtree(folder)
    return load_statements(folder)


def _check_budget(
    planned: StatementsPlan, ledger: Ledger | str | Path | None, analyst: str, *, allow_unproven: bool
) -> None:
    """Refuse a ledger that cannot pay for all.

    Raises:
        BudgetExceeded: it cannot.
    """
    if (existing := Ledger.at(ledger)) is not None:
        charges = charges_of(planned, allow_unproven=allow_unproven)
        existing.check_all(charges, planned.spec.privacy.protected, analyst)


def charges_of(planned: StatementsPlan, *, allow_unproven: bool = False) -> list[Charge]:
    """Return what each release of a plan will cost."""
    designs = [part.planned.design for part in planned.parts]
    return [
        Charge(loss=charge(mechanism_of(design), design.method, allow_unproven=allow_unproven)) for design in designs
    ]


def _check_rows(design: Design, source: Any, *, engine: str | None, progress: Progress | None) -> None:
    """Count a release's rows for nothing, so that rows which do not fit are refused before any release is paid for.

    Raises:
        SchemaMismatch, OSError: they do not fit, or cannot be read.
    """
    mechanism = cast("CuratorMechanism", mechanism_of(design))
    counted = rows_of(design, source_of(design, source), engine=engine)
    mechanism.prepare(TableRows(schema=design.schema, source=counted, unit=mechanism.claim.unit, progress=progress))


def _begun(planned: StatementsPlan, folder: Path) -> Statements:
    """Make the folder, with the designs that its releases will have."""
    new_path(folder, "a release is")
    folder.mkdir()
    for part in planned.parts:
        save_design(part.planned.design, folder / f"{part.part.name}.design.json")
    answered = {part.part.name: part.part.statements for part in planned.parts}
    return write_statements(folder, sql=planned.sql, spec=planned.spec.hash, answered=answered)
