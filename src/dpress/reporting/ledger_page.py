"""The page of a ledger: what it allows, what was spent, by whom and on what; one file that asks nobody for anything.

Data flow: summary -> names, values, a table, a figure -> file.
"""

import importlib.metadata
from pathlib import Path
from typing import Any

from dpress.core.basics.losses.any_loss import parameters
from dpress.ledger.ledger import Entry, Summary
from dpress.reporting import charts
from dpress.reporting.charts import Chart
from dpress.reporting.figures import PERCENT, Figure, both
from dpress.reporting.optional import load
from dpress.reporting.page_tables import Table
from dpress.reporting.render import rendered
from dpress.reporting.rounding import amounts, floor, loss

SHORT = 8  # digits of a hash in a table
NOBODY = "\N{EN DASH}"
STYLE = """
main { max-width: 64rem; }
main > * > p { max-width: 46rem; }
td:nth-child(2) { white-space: nowrap; }
"""


def write_ledger_page(summary: Summary, name: str, path: str | Path) -> Path:
    """Write the page of a ledger, replacing an older one, and return its path.

    Args:
        summary: of a ledger whose chain was found whole.
        name: of the ledger, its file or URL.
        path: the HTML file.

    Raises:
        NotSupported: the extra `[report]` is not installed.
        OSError: the file cannot be written.
    """
    text = ledger_page(summary, name)
    path = Path(path)
    path.write_text(text, encoding="utf-8")
    return path


def ledger_page(summary: Summary, name: str) -> str:
    """Return the page as HTML; it lists all releases, and belongs where the ledger is.

    Args:
        summary: of a ledger whose chain was found whole.
        name: of the ledger, its file or URL.

    Raises:
        NotSupported: the extra `[report]` is not installed.
    """
    entries = summary.entries
    context: dict[str, Any] = {
        "version": importlib.metadata.version("dpress"),
        "name": name,
        "limit": loss(summary.limit),
        "unit": summary.unit,
        "spent": amounts(summary.spent),
        "left": amounts(summary.remaining, floor),
        "used_up": any(amount == 0 for amount in summary.remaining.values()),
        "several": len(summary.spent) > 1,
        "first": entries[0].time[:10] if entries else "",
        "last": entries[-1].time[:10] if entries else "",
        "charges": len(entries),
        "stopped": sum(not entry.confirmed for entry in entries),
        "parts": any(entry.partition is not None for entry in entries),
        "figure": _figure(summary) if entries else None,
        "table": _table(entries),
        "rows": summary.rows,
        "head": summary.head,
    }
    return rendered("reporting/ledger.html.j2", context, style=STYLE)


def _table(entries: tuple[Entry, ...]) -> Table:
    names = ("charge", "day (UTC)", "who", "for", "release", "spec", "noise drawn", "charged", "left")
    rows = tuple(_row(number, entry) for number, entry in enumerate(entries, start=1))
    return Table(caption="Every charge, the first one first", names=names, labels=7, rows=rows)


def _row(number: int, entry: Entry) -> tuple[str, ...]:
    part = "" if entry.partition is None else f" (part {entry.partition})"
    named = (entry.who, entry.label + part, entry.release, entry.spec[:SHORT])
    drawn = "yes" if entry.confirmed else "not known"
    paid = loss(entry.loss), amounts(entry.remaining, floor)
    return str(number), entry.time[:10], *(name or NOBODY for name in named), drawn, *paid


def _figure(summary: Summary) -> Figure:
    """Return how the share of the limit that is spent grew, charge by charge."""
    limit = parameters(summary.limit)
    shares = [max(float(1 - entry.remaining[name] / limit[name]) for name in limit) for entry in summary.entries]
    steps = [{"charge": number, "share": share} for number, share in enumerate([0.0, *shares])]
    return Figure(drawing=both(lambda width: _steps(steps, width), "The share of the limit that is spent, by charge"))


def _steps(steps: list[dict[str, Any]], width: float) -> Chart:
    alt = load("altair")
    plain = {"ticks": False, "domain": False}
    marked = range(0, len(steps), -(-len(steps) * 60 // int(width)))  # a mark at most every 60 pixels
    charge = alt.Axis(title="charges", values=list(marked), format="d", grid=False, **plain)
    share = alt.Axis(title="spent, of the limit", values=[0, 0.25, 0.5, 0.75, 1], labelExpr=PERCENT, **plain)
    x = alt.X("charge:Q", axis=charge, scale=alt.Scale(domain=[0, len(steps) - 1], nice=False))
    y = alt.Y("share:Q", axis=share, scale=alt.Scale(domain=[0, 1.04], nice=False))
    area = alt.Chart(charts.data(steps)).mark_area(color=charts.MARK, opacity=0.75, interpolate="step-before")
    limit = alt.Chart(charts.data([{"share": 1}])).mark_rule(color=charts.INK, strokeDash=[4, 3]).encode(y)
    return (area.encode(x, y) + limit).properties(width=width - 90, height=190)
