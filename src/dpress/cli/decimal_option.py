"""A number on the command line, as most of the world writes one: with a point, and without a percent sign."""

import math
from typing import Any

import click


class PlainNumber(click.ParamType[float]):
    """A finite number; what it refuses it writes as it would be right."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number.

        Raises:
            BadParameter: it is none.
        """
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            self.fail(f"expected a number{_meant(str(value))}, got {value!r}", param, ctx)
        return number


def _meant(text: str) -> str:
    """Return how a number may have been meant, in words; nothing where none is likely.

    >>> _meant("95%"), _meant("0,95"), _meant("often")
    (' such as 0.95', ' such as 0.95', '')
    """
    plain = text.strip().replace(",", ".")
    percent = plain.endswith("%")
    try:
        number = float(plain.removesuffix("%")) / (100 if percent else 1)
    except ValueError:
        return ""
    return f" such as {number:g}" if math.isfinite(number) else ""


DECIMAL = PlainNumber()
