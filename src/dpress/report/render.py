"""From a template and what it shows to one HTML file with its style in it."""

import importlib.resources
from typing import Any

from dpress.report import charts, frame
from dpress.report.extra import load
from dpress.report.rounding import percent_down, percent_up

STYLE = "page.css"


def rendered(template: str, context: dict[str, Any]) -> str:
    """Return the page; whatever the context says is escaped.

    Args:
        template: the name of its file.
        context: what the template shows.

    Raises:
        NotSupported: the extra `[report]` is not installed.
    """
    jinja2 = load("jinja2")
    folder = importlib.resources.files("dpress.report")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"up": percent_up, "down": percent_down}
    style = load("markupsafe").Markup((folder / STYLE).read_text(encoding="utf-8") + charts.colours() + frame.STYLE)
    found = environment.from_string((folder / template).read_text(encoding="utf-8"))
    return str(found.render(style=style, **context))
