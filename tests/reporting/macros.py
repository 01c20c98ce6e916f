"""What a macro of a template says."""

from typing import Any

from dpress.reporting.render import environment


def sentence(template: str, macro: str, *arguments: Any) -> str:
    """Return what a macro makes of its arguments, as text in one line."""
    made = getattr(environment().get_template(template).module, macro)(*arguments)
    return " ".join(made.unescape().split())
