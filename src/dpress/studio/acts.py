"""What the page may do with a wish, by the functions that everybody has.

The rows are read by `check` and `publish` alone, and only `check` tells anything that noise does not protect.
"""

import tempfile
from pathlib import Path
from typing import Any

from dpress.core.basics import rng as generators
from dpress.core.basics.losses.any_loss import as_floats
from dpress.data.specification.spec import Spec
from dpress.query.load import load_release
from dpress.query.release import Release
from dpress.release.curator.publish import publish as publish_table
from dpress.release.plan.made_up import made_up
from dpress.reporting.page import write_report
from dpress.studio import forecast as forecasts
from dpress.studio.session import Session

REPORT = "report.html"


def forecast(session: Session, name: str) -> dict[str, Any]:
    """Return what a wish would cost and give; see `forecasts.forecast`."""
    return forecasts.forecast(session.spec(name))


def preview(session: Session, name: str) -> dict[str, Any]:
    """Return the bars of a made-up release."""
    return forecasts.bars(made_up_release(session.spec(name), session.users))


def made_up_page(session: Session, name: str) -> bytes:
    """Return the page that a made-up release would have."""
    release = made_up_release(session.spec(name), session.users)
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
    return publish_table(spec, rows, rng=generators.seeded(7), allow_unproven=True)


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
        out, spec = session.folder / name, session.write(name)
        release = publish_table(spec, session.source, out=out, ledger=session.open_ledger(spec.privacy.protected))
        write_report(release, out / REPORT)
        return {"release": str(out), "charged": as_floats(release.charged)}


def page(session: Session, name: str) -> bytes:
    """Return the page of a published wish.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not published.
    """
    folder = session.published(name)
    with tempfile.TemporaryDirectory() as place:  # from the release, never a page that came with the folder
        return write_report(load_release(folder), Path(place) / REPORT).read_bytes()
