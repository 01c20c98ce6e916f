"""What is read off sqlglot's expressions: values that are written out, and an expression as text."""

from sqlglot import exp

DIALECT = "duckdb"
WRAPPERS = (exp.Paren, exp.Cast)


def shown(node: exp.Expr) -> str:
    """Return an expression as a message has it."""
    return repr(node.sql(dialect=DIALECT))


def written(node: exp.Expr) -> str:
    """Return an expression as `group by` and `order by` find it again."""
    return node.sql(dialect=DIALECT, normalize=True).casefold()


def bare(node: exp.Expr) -> exp.Expr:
    """Return an expression without parentheses and casts around it."""
    inner: exp.Expr = node.this
    return bare(inner) if isinstance(node, WRAPPERS) else node


def literal(node: exp.Expr) -> str | None:
    """Return a value as a query has it: a number, a text, a date, true or false; None where it is none."""
    if isinstance(node, exp.Literal):
        return str(node.this)
    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal):
        return f"-{node.this.this}"
    if isinstance(node, exp.Boolean):
        return "true" if node.this else "false"
    return literal(node.this) if isinstance(node, WRAPPERS) else None


def constant(node: exp.Expr) -> float | None:
    """Return a number that is written out, `100.0` or `2 * 50`; None for anything else."""
    plain = bare(node)
    if isinstance(plain, exp.Literal) and not plain.is_string:
        return float(plain.this)
    if isinstance(plain, exp.Neg):
        return None if (inner := constant(plain.this)) is None else -inner
    parts = [constant(part) for part in (plain.this, plain.expression)] if isinstance(plain, exp.Mul | exp.Div) else []
    if len(parts) < 2 or parts[0] is None or not parts[1]:  # two factors
        return None
    return parts[0] * parts[1] if isinstance(plain, exp.Mul) else parts[0] / parts[1]


def is_null(node: exp.Expr | None) -> bool:
    """Say whether a value is left out, or null."""
    return node is None or isinstance(node, exp.Null)
