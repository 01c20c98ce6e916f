"""A table as plain text, for pipes and files: what rich prints there, without loading it."""

from collections.abc import Sequence

WIDEST = 1000  # characters; a wider table is rich's to fold
GAP = "  "


def render(header: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> str | None:
    """Return the lines of a table; None where its layout is not plain and rich must find it.

    That is where a cell holds anything but printable ASCII, whose characters are one column wide, where a row is too
    wide, or where a column is empty.

    Args:
        header: the names of the columns.
        rows: their cells.
        numbers: the columns that are aligned right.

    >>> print(render(("method", "cells"), [("haar", "8"), ("identity", "1,024")], (1,)), end="")
    method    cells
    haar          8
    identity  1,024
    """
    lines = [list(header), *map(list, rows)]
    if not all(cell.isascii() and cell.isprintable() for line in lines for cell in line):
        return None
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    if not all(widths) or sum(widths) + len(GAP) * (len(widths) - 1) > WIDEST:
        return None
    return "".join(f"{GAP.join(_aligned(line, widths, numbers))}\n" for line in lines)


def _aligned(line: Sequence[str], widths: Sequence[int], numbers: Sequence[int]) -> list[str]:
    cells = enumerate(zip(line, widths, strict=True))
    return [cell.rstrip().rjust(width) if place in numbers else cell.ljust(width) for place, (cell, width) in cells]
