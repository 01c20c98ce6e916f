"""What the page may do in SQL: statements in place of a kind of release, and queries of what is published.

By the functions of `dpress plan --sql`, `publish --sql` and `query --sql`.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import msgspec

from dpress.core.basics.kind import Wished
from dpress.core.basics.losses.any_loss import as_floats, describe
from dpress.query.sql.sql_table import FREE, SqlTable
from dpress.query.sql.statements_folder import is_statements, load_statements, sql_tables
from dpress.release.statements.plan_statements import StatementsPlan, plan_statements
from dpress.release.statements.statements_text import statements_text
from dpress.studio.forecast import chances
from dpress.studio.session import Session

WISHED = Wished(
    kind="",
    place=0,
    title="Statements of SQL",
    words="What select asks for, every number with its error.",
    mark="line",
    marks=((2, 6), (8, 18), (8, 30)),
)


class Query(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A query of what is published.

    Args:
        name: of the wish.
        sql: one statement, or several.
    """

    name: str
    sql: str


def forecast(session: Session, name: str) -> dict[str, Any]:
    """Return what the plan of a wish's statements says, in the members of `forecast.forecast`.

    Raises:
        SqlRefusal, NotSupported, ValueError: see `plan_statements`.
    """
    planned = _planned(session, name)
    loss, words = planned.spec.privacy.loss, statements_text(planned)
    proven = all(part.planned.chosen.mechanism.claim.proven is not None for part in planned.parts)
    return {
        "why": " ".join(words.remarks),
        "promise": f"{describe(loss)} for all statements together",
        "chances": chances(loss) if proven else [],
        "tables": [asdict(words.statements), asdict(words.releases)],
        "more": [],
        "remarks": [],
        "budgets": [],
        "off": "",
    }


def check(session: Session, name: str) -> dict[str, Any]:
    """Return where every value would be counted by each release: exact, for the eyes of whoever holds the rows."""
    from dpress.release.truth.check_text import lines  # noqa: PLC0415  # a page that never checks starts faster
    from dpress.release.truth.data_check import check as check_rows  # noqa: PLC0415

    report_lines: list[str] = []
    reports = [(part.part, check_rows(part.planned.spec)) for part in _planned(session, name).parts]
    for part, report in reports:
        numbers = ", ".join(str(place + 1) for place in part.statements)
        report_lines += [f"Of the release {part.name}, for statement {numbers}:", *lines(report), ""]
    return {"lines": report_lines, "passed": all(report.passed for _, report in reports)}


def publish(session: Session, name: str) -> dict[str, Any]:
    """Publish what answers a wish's statements; where that was interrupted, go on with it as it was begun.

    Raises:
        BudgetExceeded, NotSupported, OSError, SchemaMismatch, ValueError: see `publish_statements`.
    """
    from dpress.release.statements.publish_statements import publish_statements  # noqa: PLC0415  # one click needs it

    with session.publishing:
        out = session.folder / name
        begun = load_statements(out, whole=False) if session.is_published(name) and is_statements(out) else None
        if begun is None or not begun.missing:
            session.check_open(name)
        with session.trying(name):
            if begun is None or not begun.missing:
                session.write(name)
            sql = session.wish(name).sql if begun is None else begun.sql
            planned = plan_statements(session.folder / f"{name}.toml", sql)
            made = publish_statements(planned, out=out, ledger=session.account, limit=session.limit)
        return {"release": str(out), "charged": [as_floats(made.release(part).charged) for part in made.answered]}


def answers(session: Session, name: str) -> dict[str, Any]:
    """Return the table that each of a wish's statements asked for, or which of its releases are missing."""
    made = load_statements(session.published(name), whole=False)
    tables = [] if made.missing else [made.answer(number) for number in range(1, made.count + 1)]
    return {**_answered(tables), "missing": made.missing}


def ask(session: Session, query: Query) -> dict[str, Any]:
    """Return the answers to a query of what is published; nothing is charged.

    Raises:
        SqlRefusal, ValueError: it is not published, or does not answer that.
    """
    return _answered(sql_tables(session.published(query.name), query.sql))


def _planned(session: Session, name: str) -> StatementsPlan:
    return plan_statements(session.spec(name), session.wish(name).sql)


def _answered(tables: Sequence[SqlTable]) -> dict[str, Any]:
    return {"tables": [_plain(table) for table in tables], "charged": FREE}


def _plain(answer: SqlTable) -> dict[str, Any]:
    """Return an answer for the page, with the CSV that it offers."""
    return {
        "statement": answer.statement,
        "header": answer.table.column_names,
        "rows": answer.rows,
        "numbers": answer.number_places,
        "notes": answer.notes,
        "csv": answer.to_csv().decode(),
    }
