"""One period more: what closes with it is measured and written beside what is there already.

spec, period -> spans that close -> for each its rows, a line in the ledger, noise, a folder.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import msgspec

from dpress.core.basics.errors import BudgetExceeded
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.read import from_parameters
from dpress.core.basics.rng import Generator
from dpress.core.maps.spans import Span
from dpress.data.add_up import Progress
from dpress.data.sources.open_source import Rows
from dpress.data.specification.spec import Spec
from dpress.document.design import Design
from dpress.ledger.compose import Charge
from dpress.ledger.ledger import Ledger, verify
from dpress.query.folder import is_series
from dpress.query.release import Release
from dpress.release.curator.publish import Payment, publish
from dpress.release.curator.unfinished import place_of
from dpress.release.periods.calendar import Calendar
from dpress.release.periods.person_periods import person_periods
from dpress.release.periods.series import Series, load_series
from dpress.release.periods.series_folder import begun, keep
from dpress.release.plan.plan import plan
from dpress.release.source_rows import rows_of, source_of


def publish_period(
    spec: Spec,
    period: str,
    data: Any = None,
    *,
    out: str | Path,
    ledger: str | Path | Ledger | None = None,
    limit: Loss | None = None,
    who: str = "",
    engine: str | None = None,
    csv: bool = False,
    titles: bool = False,
    rng: Generator | None = None,
    progress: Progress | None = None,
) -> tuple[Release, ...]:
    """Add a period to a release, and return what was measured with it; nothing that is there is read or made again.

    Promise: with separate periods, epsilon (or rho) for a row, which lies in one of them: the ledger composes them in
    parallel. For a person whose rows count in the first `per_unit` periods that have any, that many times as much.
    That holds while rows are added from one period to the next and never taken away, and periods are drawn in order.
    Twice these under replace-one, where a row may leave one period for another.
    With a counter, epsilon for a row over all periods together: a row is in `core.maps.spans.depth` spans, each with an
    equal share, and each a line of the ledger before its noise is drawn. Without a ledger only the folder knows what
    was drawn: a copy of it, or a span's folder that is deleted, is noise drawn again for nothing.
    Error: of a span that of its release; of sums of spans by `core.maps.spans.coefficients`, exact.

    Args:
        spec: with `periods`.
        period: the name of one of its cells.
        data: the rows so far; of other periods than those that close they are not counted. Where the unit is a person,
            they must hold the earlier periods, too.
        out: the folder of the series; begun with its first period.
        ledger: pays, the same one for all periods; see `publish`. A period whose folder is gone is paid again.
        limit: of a ledger that is new; left out, the loss of all periods.
        who: publishes.
        engine: that counts.
        csv: tables as CSV, too.
        titles: in these titles and labels; see `publish`.
        rng: left out, a secure generator.
        progress: called with the number of rows counted so far.

    Raises:
        ValueError: no such period, one that is there already or that is out of order, another specification, or another
            ledger.
        BudgetExceeded, NotSupported, SchemaMismatch, OSError: see `publish`.

    >>> import datetime, tempfile, dpress, pyarrow as pa
    >>> day = {"name": "day", "kind": "date", "bounds": ["2024-01-01", "2024-02-29"], "cells": "month"}
    >>> parts = {"privacy": {"epsilon": 1}, "periods": {"attribute": "day"}, "release": {"kind": "histogram"}}
    >>> spec, rows = dpress.load_spec({"attribute": [day], **parts}), pa.table({"day": [datetime.date(2024, 1, 9)]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     len(publish_period(spec, "2024-01", rows, out=f"{folder}/visits"))
    1
    """
    folder = Path(out)
    spec = _settled(spec, folder)
    calendar = Calendar(spec)
    number = calendar.place(period)
    planned = {span: plan(calendar.of(span)) for span in calendar.spans if span[1] == number}
    rows = rows_of(plan(calendar.of((number, number))).design, source_of(spec, data), engine=engine)
    with begun(folder, spec, lambda: not load_series(folder).paid(ledger)):
        series = load_series(folder)
        paid = series.paid(ledger)
        series.check_next(number, paid)
        series.check_ledger(ledger)
        left = {span: chosen for span, chosen in planned.items() if span not in series.spans}
        begun_spans = {span for span in left if place_of(folder / calendar.folder(span)).is_dir()}  # may be paid for
        designs = {span: chosen.design for span, chosen in left.items() if span not in begun_spans}
        _check_budget(series, designs, ledger, paid)
        counted = _counted(rows, series, number, paid)
        made = tuple(
            publish(
                chosen,
                counted,
                out=folder / calendar.folder(span),
                ledger=ledger,
                payment=_payment(series, span, limit),
                who=who,
                csv=csv,
                titles=titles,
                engine=None if calendar.of_persons else engine,
                rng=rng,
                progress=progress,
            )
            for span, chosen in left.items()
        )
        if (account := Ledger.at(ledger)) is not None:
            keep(folder, verify(account.path))
        return made


def _counted(rows: Rows, series: Series, period: int, paid: Collection[Span]) -> Rows:
    """Return the rows as they count for a period: of persons those of their first periods."""
    if not series.calendar.of_persons:
        return rows
    before = any(last < period for _, last in (*series.spans, *paid))
    return person_periods(rows, series.calendar, period, earlier=before)


def _settled(spec: Spec, folder: Path) -> Spec:
    """Return the specification with the counter that the series has, or that is best, where it leaves that open."""
    calendar = Calendar(spec)
    if calendar.periods.counter != "auto":
        return spec
    counter = load_series(folder).calendar.counter if is_series(folder) else calendar.counter
    return msgspec.structs.replace(spec, periods=msgspec.structs.replace(calendar.periods, counter=counter))


def _payment(series: Series, span: Span, limit: Loss | None) -> Payment:
    """Return what the ledger pays for a span: the loss of its release, for the part of the table that it is of."""
    calendar = series.calendar
    return Payment(limit=limit or calendar.whole, partition=series.part(span), touched=calendar.touched)


def _check_budget(
    series: Series, left: Mapping[Span, Design], ledger: str | Path | Ledger | None, paid: Collection[Span]
) -> None:
    """Refuse what a ledger can pay only in part, before anything of it is drawn.

    Where a counter begins, that is all of its spans; where a span was paid before, all that are still to come: noise
    that is drawn again is paid by what is left beside the series, never by a later period's share.

    Raises:
        BudgetExceeded: the ledger cannot pay.
        OSError, ValueError: it cannot be read.
    """
    if not left or (account := Ledger.at(ledger)) is None:
        return
    calendar, begins = series.calendar, not (series.spans or paid)
    again = [calendar.folder(span) for span in left if span in paid]
    reserved = {*calendar.spans} - {*series.spans, *paid} if again or (series.running and begins) else set[Span]()
    loss = from_parameters(next(iter(left.values())).budget)
    charges = [Charge(loss=loss, partition=series.part(span), touched=calendar.touched) for span in {*left, *reserved}]
    try:
        account.check_all(charges, calendar.spec.privacy.protected)
    except BudgetExceeded as error:
        if not again:
            raise
        raise BudgetExceeded(
            f"{error}; the noise of {again[0]} was paid before: put its folder back, or go on with the next period"
        ) from None
