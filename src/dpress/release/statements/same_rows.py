"""Which releases of a session count the same rows as a statement's would, by the specification and texts alone."""

from collections.abc import Sequence

from dpress.attributes.policy import DROP
from dpress.data.specification.spec import Spec
from dpress.query.sql.reader import statements
from dpress.release.statements.joined_rows import joined_rows
from dpress.release.statements.parts import Need, need_of
from dpress.release.statements.session_folder import Accepted
from dpress.release.statements.session_squares import Reading
from dpress.release.statements.specifications import columns_of

Rows = tuple[str, frozenset[str], frozenset[tuple[str, int, int]]]
"""Which rows count: the tables that are joined, the attributes that leave some out, and the ranges of a release."""


def need_in(spec: Spec, sql: str) -> Need:
    """Return what one statement needs.

    Raises:
        SqlRefusal, NotSupported: see `reader.statements` and `parts.need_of`.
    """
    (statement,) = statements(sql, columns_of(spec, sql))
    return need_of(0, statement, {attribute.name: attribute for attribute in spec.attribute})


def rows_of(spec: Spec, sql: str) -> Rows:
    """Return which rows the release of a statement counts.

    Raises:
        SqlRefusal, NotSupported: see `need_in` and `joined_rows`.
    """
    need, joined = need_in(spec, sql), joined_rows(sql, spec.privacy.protected.columns)
    used = need.by | {name for name, *_ in need.ranges} | {name for _, name in need.measured if name}
    used |= frozenset() if used else {spec.attribute[0].name}
    leaving_out = frozenset(
        column.name
        for column in spec.attribute
        if column.name in used and (column.discovered or DROP in column.with_cells.policies)
    )
    return "" if joined is None else joined.text, leaving_out, need.ranges


def usable(spec: Spec, sql: str, accepted: Sequence[Accepted], loaded: dict[tuple[int, str], Reading]) -> list[Reading]:
    """Return the releases of a session that count the same rows as a statement's would.

    Args:
        spec: of the session.
        sql: the statement.
        accepted: the statements of the session.
        loaded: the releases that were loaded so far, by statement and name; others are added.
    """
    rows = rows_of(spec, sql)
    readings = []
    for each in accepted:
        if not each.whole or rows_of(spec, each.sql) != rows:
            continue
        for name in each.statements.answered:
            if (each.number, name) not in loaded:
                selected = need_in(spec, each.sql).discovered is not None
                release = each.statements.release(name)
                loaded[each.number, name] = Reading(
                    number=each.number, release=release, sql=each.sql, selected=selected
                )
            readings.append(loaded[each.number, name])
    return readings
