"""From a template and the facts it names to one HTML file with its style in it."""

import functools
import importlib.resources
from collections.abc import Mapping
from typing import Any

from dpress.core.basics.method_names import OF_PACKAGE
from dpress.core.basics.visible import visible
from dpress.reporting import charts
from dpress.reporting.optional import load
from dpress.reporting.page_script import allowed, script
from dpress.reporting.rounding import ceiling, error, error_up, listed, loss, number, percent_down, percent_up

STYLE = "reporting/page.css"
FILTERS = {
    "number": number,
    "error": error,
    "error_up": error_up,
    "loss": loss,
    "ceiling": ceiling,
    "listed": listed,
    "allowed": lambda text: load("markupsafe").Markup(allowed(text)),
    "up": percent_up,
    "down": percent_down,
}


def rendered(template: str, context: Mapping[str, Any], *, style: str = "") -> str:
    """Return the page; whatever the context says is escaped.

    Args:
        template: its file, below the package, e.g. `reporting/page.html.j2`.
        context: the facts that the template names.
        style: rules of the page's own, beside those of every page.

    Raises:
        NotSupported: the extra `[report]` is not installed.
    """
    markup = load("markupsafe").Markup
    page = environment().get_template(template)
    context = {"data": None, "script": script(), **context}
    return str(page.render(style=markup(_text(STYLE) + charts.colours() + style), **context))


@functools.cache
def environment() -> Any:
    """Return what templates are read with: every text is escaped, and a fact that is missing is an error.

    Raises:
        NotSupported: the extra `[report]` is not installed.
    """
    jinja2 = load("jinja2")
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(_text),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= FILTERS
    return made


def _shown(fact: Any) -> Any:
    """Return a fact as a page may show it; markup, which is ours, stays as it is."""
    return visible(fact) if isinstance(fact, str) and not hasattr(fact, "__html__") else fact


def _text(name: str) -> str:
    """Return a template of ours, or of another package (`acme.toy_counts:page.html.j2`)."""
    package, _, file = name.rpartition(OF_PACKAGE)
    return (importlib.resources.files(package or "dpress") / file).read_text(encoding="utf-8")
