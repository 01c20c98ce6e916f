"""The report: one HTML file that opens offline and asks nobody for anything; its script answers queries.

Data flow: release -> the page of its kind's room -> file.
"""

from collections.abc import Sequence
from pathlib import Path

from dpress import catalog
from dpress.core.basics.errors import NotSupported
from dpress.query.release import Release


def write_report(
    release: Release, path: str | Path, *, queries: Sequence[str] = (), boundaries: str | Path | None = None
) -> Path:
    """Write the report of a release, replacing an older one, and return its path.

    Args:
        release: just published, or loaded.
        path: the HTML file.
        queries: to draw; see `page`.
        boundaries: to draw; see `page`.

    Raises:
        NotSupported: the extra `[report]` is not installed, or the release's kind draws no queries, or not so many.
        ValueError: a text is no query on what is drawn, or the boundaries cannot be read.
        OSError: the file cannot be written, or that of the boundaries not read.

    >>> import dpress, tempfile
    >>> from dpress.cli.demo import SPEC
    >>> from dpress.data.example_people import people
    >>> release = dpress.publish(dpress.load_spec(SPEC), people(900))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dpress.report(release, f"{folder}/report.html").name
    'report.html'
    """
    text = page(release, queries=queries, boundaries=boundaries)
    path = Path(path)
    path.write_text(text, encoding="utf-8")
    return path


def page(release: Release, *, queries: Sequence[str] = (), boundaries: str | Path | None = None) -> str:
    """Return the report as HTML, as `kinds/<room>/page.py` makes it.

    Args:
        release: just published, or loaded.
        queries: to draw with their answers, where the release's kind draws any.
        boundaries: a file of named areas to draw with their counts, GeoJSON in the units of what is drawn.

    Raises:
        NotSupported: the extra `[report]` is not installed, or the release's kind draws no queries, or not so many.
        ValueError: a text is no query on what is drawn, or the boundaries are no named areas on it.
        OSError: the file of boundaries cannot be read.
    """
    shown = catalog.room(release.design.kind).page
    if not queries and boundaries is None:
        return shown.page(release)
    if shown.drawing is None:
        raise NotSupported(f'{_drawing()}; this is kind = "{release.kind}": `dpress query`')
    return shown.drawing(release, queries, boundaries)


def _drawing() -> str:
    """Return which kinds draw queries and boundaries."""
    drawing = [kind for kind in catalog.kinds().values() if kind.queries_on]
    named = " and ".join(f'{kind.queries_on}, kind = "{kind.names[0]}",' for kind in drawing)
    return f"only {named} draws queries and boundaries"
