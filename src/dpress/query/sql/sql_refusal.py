"""Why a statement is not answered, with its place: what was written, and what can be asked instead."""

from sqlglot import exp


class SqlRefusal(ValueError):
    """A statement that cannot be answered.

    Args:
        message: what was written and what would be right, in one line.
        text: all that was written.
        start: of the place in the text; None where it has none.
        length: of the place, in characters.
    """

    def __init__(self, message: str, text: str, start: int | None = None, length: int = 1) -> None:
        """Put the place behind the message."""
        self.text, self.start, self.length = text, start, max(1, length)
        where = "" if start is None else f" (line {self.line}, column {self.column})"
        super().__init__(message + where)

    @property
    def line(self) -> int:
        """The number of the line, from 1."""
        return self.text.count("\n", 0, self.start or 0) + 1

    @property
    def column(self) -> int:
        """The number of the character in its line, from 1."""
        return (self.start or 0) - (self.text.rfind("\n", 0, self.start or 0) + 1) + 1

    @property
    def caret(self) -> str:
        """The line with carets below the place; empty where there is no place."""
        if self.start is None:
            return ""
        written = self.text.split("\n")[self.line - 1]
        marks = min(self.length, max(1, len(written) - self.column + 1))
        return f"{written}\n{' ' * (self.column - 1)}{'^' * marks}"


def place_of(node: exp.Expr) -> tuple[int | None, int]:
    """Return where the first name or value of an expression stands, and how long the names in it are together."""
    ends = [(part.meta["start"], part.meta["end"]) for part in node.walk() if "start" in part.meta]
    if not ends:
        return None, 1
    first, last = min(start for start, _ in ends), max(end for _, end in ends)
    return first, last - first + 1


def refused(message: str, text: str, node: exp.Expr | None = None) -> SqlRefusal:
    """Return a refusal of a part of a statement."""
    return SqlRefusal(message, text) if node is None else SqlRefusal(message, text, *place_of(node))
