"""The one pipeline of a central release: plan, count, charge, measure, write."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from dpress.core import rng as generators
from dpress.core.claim import Loss, Unit, describe
from dpress.core.errors import NotSupported, SchemaMismatch
from dpress.core.measurement import Measurement
from dpress.core.mechanism import Synthetic
from dpress.core.rng import Generator
from dpress.core.workload import Boxes
from dpress.data.fold import Counts, Progress, count, fold
from dpress.data.rows import people
from dpress.data.spec import Spec, as_dict, from_dict
from dpress.data.table import Table
from dpress.ledger.ledger import Ledger
from dpress.mechanisms.protocol.collection import Collection
from dpress.release.artifact import Release, now
from dpress.release.candidate import CentralMapping, charge
from dpress.release.folder import check_new
from dpress.release.map import kind_of
from dpress.release.microdata import finished
from dpress.release.microdata_plan import RecordMaker
from dpress.release.plan import Plan, plan
from dpress.release.workloads import LARGEST_TABLE

BYTES_PER_CELL = 96  # at the peak, when the tables are estimated


def publish(
    spec: Spec,
    data: Any = None,
    *,
    ledger: Ledger | str | Path | None = None,
    out: str | Path | None = None,
    allow_unproven: bool = False,
    rng: Generator | None = None,
    progress: Progress | None = None,
    writing: Progress | None = None,
) -> Release:
    """Count a table, add noise, and return the release.

    Whatever can fail for reasons that are not the disk's fails before the budget is charged; the charge is made before
    the noise is drawn, and stands from then on.

    Args:
        spec: what to publish.
        data: a CSV or Parquet file, or a pandas, polars, pyarrow or DuckDB table; left out, the spec's source.
        ledger: pays for the release; a path where there is none yet becomes a ledger whose limit is the spec's budget.
            Without one, nothing guards the table against being published again and again.
        out: a new folder to write the release to.
        allow_unproven: also run a method whose published claim has no proof.
        rng: left out, a secure generator; a seeded one stamps the release "not private".
        progress: called with the number of rows counted so far.
        writing: called with the number of cells written so far.

    Raises:
        BudgetExceeded: the ledger cannot pay; nothing was read or charged.
        NotSupported: no method serves the spec, or the method is unproven.
        SchemaMismatch: the data does not fit the spec; nothing was charged.
        OSError: the data cannot be read (nothing was charged; unless a table too large for memory changes between two
            passes over it), or the release cannot be written (the charge stands).
    """
    planned = plan(spec)
    _check_size(planned)
    spec = msgspec.structs.replace(from_dict(as_dict(spec)), data=spec.data)  # the caller's lists may change meanwhile
    mechanism = planned.chosen.mechanism
    if isinstance(mechanism, Collection):
        raise NotSupported('$.privacy.model: "local" is collected: `dpress perturb` and `dpress estimate`')
    charged, unit = charge(planned.chosen, allow_unproven=allow_unproven), mechanism.claim.unit
    account = _existing(ledger)
    if account is not None:
        account.check(charged, unit)
    if out is not None:
        check_new(out)
    draw = _ready(spec, planned, data, unit, progress)
    generator = generators.secure() if rng is None else rng
    if account is None and ledger is not None:
        account = _new(Path(str(ledger)), spec)
    head = None
    if account is not None:
        reservation = account.reserve(charged, unit, label=planned.chosen.method, spec_hash=spec.hash)
    drawn = _drawn(draw, generator, charged)
    if account is not None:
        account.spend(reservation, now())
        head = account.summary().head
    about: dict[str, Any] = {"spec": spec, "planned": planned, "charged": charged, "private": generator.private}
    about |= {"created": now(), "ledger_head": head}
    if isinstance(drawn, Synthetic):
        release: Release = finished(drawn, rng=generator, **about)
    else:
        release = kind_of(spec)(measurement=drawn, **about)
    if out is not None:
        _write(release, out, writing)
    return release


def _ready(
    spec: Spec, planned: Plan, data: Any, unit: Unit, progress: Progress | None
) -> Callable[[Generator], Measurement | Synthetic]:
    """Return what draws the noise, once everything that may refuse the rows has seen them."""
    mechanism = planned.chosen.mechanism
    if isinstance(mechanism, RecordMaker):
        table = Table(_source(spec, data), planned.schema.names, unit, in_order=mechanism.claim.proven is None)
        rows = people(table, planned.schema, progress=progress)
        mechanism.check(rows)
        return lambda rng: mechanism.synthesizer.release(rows, rng=rng)
    assert not isinstance(mechanism, Collection)  # noqa: S101  # refused by the caller
    counts = true_counts(spec, planned, data, unit, progress=progress)
    if isinstance(mechanism, CentralMapping):
        counts = mechanism.grid.flat(counts.reshape(mechanism.grid.side, -1))
    exact = mechanism.exact(counts)
    return lambda rng: mechanism.noisy(exact, rng=rng)


def _drawn(
    draw: Callable[[Generator], Measurement | Synthetic], rng: Generator, charged: Loss
) -> Measurement | Synthetic:
    """Return what was drawn; where the rows cannot be read a second time, say that the charge stands."""
    try:
        return draw(rng)
    except (OSError, SchemaMismatch) as error:
        raise type(error)(f"{error}; noise may have been drawn, so the charge of {describe(charged)} stands") from None


def _source(spec: Spec, data: Any) -> Any:
    """Return where the rows are.

    Raises:
        ValueError: neither `data` nor the spec names any.
    """
    if data is None and spec.data is None:
        raise ValueError("no data: name a file in [data] source, or pass one")
    return data if spec.data is None or data is not None else spec.data.source


def _check_size(planned: Plan) -> None:
    """Refuse a table that is too large to count in memory, with the bytes that it would take."""
    if isinstance(planned.workload, Boxes) and (cells := planned.workload.cells) > LARGEST_TABLE:
        raise NotSupported(
            f"{planned.chosen.method} over {cells:,} cells needs about {BYTES_PER_CELL * cells:,} bytes; at most "
            f"{LARGEST_TABLE:,} cells are published (`dpress plan` and `dpress error` answer for more); use `bins`"
        )


def _existing(ledger: Ledger | str | Path | None) -> Ledger | None:
    """Return the ledger, or None where there is none yet."""
    if ledger is None or isinstance(ledger, Ledger):
        return ledger
    path = Path(ledger)
    return Ledger.open(path) if path.exists() and path.stat().st_size else None


def _new(path: Path, spec: Spec) -> Ledger:
    try:
        return Ledger.create(path, limit=spec.privacy.loss, unit=spec.privacy.protected)
    except FileExistsError:  # another process was faster; its ledger decides
        return Ledger.open(path)


def true_counts(
    spec: Spec,
    planned: Plan,
    data: Any,
    unit: Unit,
    *,
    tables: Sequence[tuple[int, ...]] | None = None,
    progress: Progress | None = None,
) -> Counts:
    """Return the exact counts of the planned tables: private, never written anywhere.

    Args:
        spec: names the source where `data` is None.
        planned: whose tables are counted.
        data: the rows.
        unit: whose contribution is bounded; `ROW` counts every row.
        tables: the axes of the tables to count, instead of those published.
        progress: called with the number of rows counted so far.

    Raises:
        ValueError: neither `data` nor the spec names any rows.
    """
    schema = planned.schema
    kernel = count(schema.shape, planned.chosen.mechanism.decoder.tables if tables is None else tuple(tables))
    return fold(Table(_source(spec, data), schema.names, unit), schema, kernel, progress=progress)


def _write(release: Release, out: str | Path, progress: Progress | None) -> None:
    try:
        release.write(out, progress=progress)
    except OSError as error:
        raise OSError(
            f"cannot write {out}: {error.strerror or error}; nothing was left behind, and the charge of "
            f"{describe(release.charged)} stands"
        ) from None
