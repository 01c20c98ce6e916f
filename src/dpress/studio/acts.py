"""What the page may do with a wish, by the functions that everybody has.

The rows are read by `check` and `publish` alone, and only `check` tells anything that noise does not protect.
"""

import tempfile
from pathlib import Path
from typing import Any

from dpress.core.basics import regular_file
from dpress.core.basics import rng as generators
from dpress.core.basics.losses.any_loss import as_floats
from dpress.data.specification.spec import Spec, load_spec
from dpress.query.folder import is_series
from dpress.query.load import load_release
from dpress.query.made_records import write_records
from dpress.query.release import Release
from dpress.release.curator.publish import Payment
from dpress.release.curator.publish import publish as publish_table
from dpress.release.plan.made_up import made_up
from dpress.reporting.bundle import write_bundle
from dpress.reporting.page import write_report
from dpress.studio import forecast as forecasts
from dpress.studio.by_period import Turn
from dpress.studio.session import Session

REPORT = "report.html"
MOST_RECORDS = 100_000  # of a published wish, on the page; `dpress records` makes any number


def forecast(session: Session, name: str) -> dict[str, Any]:
    """Return what a wish would cost and give; see `forecasts.forecast`."""
    return forecasts.forecast(session.spec(name))


def preview(session: Session, name: str) -> dict[str, Any]:
    """Return the bars of a made-up release."""
    return forecasts.bars(made_up_release(forecasts.first_period(session.spec(name)), session.users))


def made_up_page(session: Session, name: str) -> bytes:
    """Return the page that a made-up release would have."""
    release = made_up_release(forecasts.first_period(session.spec(name)), session.users)
    with tempfile.TemporaryDirectory() as place:
        return write_report(release, Path(place) / REPORT).read_bytes()


def made_up_release(spec: Spec, users: int) -> Release:
    """Return what the release would look like if the rows were made up; it is stamped "not private".

    Args:
        spec: of a table.
        users: about how many rows there will be; at most `made_up.MOST` are made up.

    Raises:
        NotSupported, ValueError: see `plan`.
    """
    rows = made_up(spec.attribute, spec.privacy.protected, users)
    return publish_table(spec.of_all_rows, rows, rng=generators.seeded(7), allow_unproven=True)


def check(session: Session, name: str) -> dict[str, Any]:
    """Return where every value would be counted: exact, for the eyes of whoever holds the rows."""
    from dpress.release.truth.check_text import lines  # noqa: PLC0415  # a page that never checks starts faster
    from dpress.release.truth.data_check import check as check_rows  # noqa: PLC0415

    report = check_rows(session.spec(name), session.source)
    return {"lines": lines(report), "passed": report.passed}


def save(session: Session, name: str) -> dict[str, Any]:
    """Write the specification of a wish, for the commands."""
    session.write(name)
    return {"spec": str(session.folder / f"{name}.toml")}


def publish(session: Session, name: str) -> dict[str, Any]:
    """Publish a wish: write its specification, charge the ledger, add noise, write release and page.

    Raises:
        BudgetExceeded, NotSupported, OSError, SchemaMismatch, ValueError: see `dpress.publish`.
    """
    with session.publishing:  # a second click waits, and is refused then
        session.check_open(name)
        with session.trying(name):
            out, spec, payment = session.folder / name, session.write(name), Payment(limit=session.limit)
            release = publish_table(spec, session.source, out=out, ledger=session.account, payment=payment)
        write_report(release, out / REPORT)
        return {"release": str(out), "charged": as_floats(release.charged)}


def publish_period(session: Session, turn: Turn) -> dict[str, Any]:
    """Publish a period of a wish: the first begins the folder, each is paid by the one ledger; the page is drawn anew.

    Raises:
        BudgetExceeded, NotSupported, OSError, SchemaMismatch, ValueError: see `dpress.publish_period`.
    """
    from dpress.release.periods.publish_period import publish_period as publish_table_period  # noqa: PLC0415  # a click

    with session.publishing, session.trying(turn.name):
        out, file = session.folder / turn.name, session.folder / f"{turn.name}.toml"
        if session.is_published(turn.name):
            session.published(turn.name)
            regular_file.check(file)
            spec = load_spec(file)
        else:
            spec = session.write(turn.name)
        pays, limit = session.account, session.limit
        made = publish_table_period(spec, turn.period, session.source, out=out, ledger=pays, limit=limit)
        _write_page(out, out / REPORT)
        return {"release": str(out), "charged": [as_floats(release.charged) for release in made]}


def records(session: Session, name: str) -> dict[str, Any]:
    """Return made-up records of a published wish as CSV, about as many as there are people; nothing is charged.

    Raises:
        NotSupported: it has no joint distribution.
        OSError, ValueError: it cannot be read, or is not published.
    """
    release, count = load_release(session.published(name)), min(max(1, session.users), MOST_RECORDS)
    with tempfile.TemporaryDirectory() as place:
        path = write_records(release, count, Path(place) / "records.csv")
        return {"csv": path.read_text(encoding="utf-8"), "count": count}


def bundle(session: Session, name: str) -> bytes:
    """Return a published wish as a zip: its files, its page, and what stands in them.

    Raises:
        OSError, ValueError: it cannot be read, or is not published.
    """
    folder = session.published(name)
    with tempfile.TemporaryDirectory() as place:
        return write_bundle(load_release(folder), folder, Path(place) / f"{name}.zip").read_bytes()


def page(session: Session, name: str) -> bytes:
    """Return the page of a published wish.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not published.
    """
    folder = session.published(name)
    with tempfile.TemporaryDirectory() as place:  # from the release, never a page that came with the folder
        return _write_page(folder, Path(place) / REPORT).read_bytes()


def _write_page(folder: Path, place: Path) -> Path:
    """Write the page of a release, or of a series of them."""
    if not is_series(folder):
        return write_report(load_release(folder), place)
    from dpress.release.periods.series import load_series  # noqa: PLC0415  # most wishes are published once
    from dpress.reporting.series_page import write_series_page  # noqa: PLC0415

    return write_series_page(load_series(folder), place)
