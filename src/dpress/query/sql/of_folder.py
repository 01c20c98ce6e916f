"""A statement about a release, or about the one in a folder."""

from pathlib import Path

from dpress.query.load import load_release
from dpress.query.published_tables import CONFIDENCE
from dpress.query.release import Release
from dpress.query.sql.sql_table import SqlTable


def sql(release: Release | str | Path, statement: str, *, confidence: float = CONFIDENCE) -> SqlTable:
    """Answer a statement of SQL over a release; nothing is charged. See `Release.sql`.

    Args:
        release: a release, or the path of its folder.
        statement: one `select`.
        confidence: of every interval.

    Raises:
        SqlRefusal: it cannot be read, or is of a form that has no answer.
        ValueError: nothing in the release answers it, or there are several statements.

    >>> import dpress, pyarrow as pa
    >>> age = {"name": "age", "kind": "integer", "bounds": [0, 99], "bins": 10}
    >>> plain = {"attribute": [age], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}
    >>> release = dpress.publish(dpress.load_spec(plain), pa.table({"age": [34] * 900}))
    >>> dpress.sql(release, "select count(*) as people from release where age < 40").table.column_names
    ['people', 'people_error', 'people_low', 'people_high']
    """
    loaded = load_release(release) if isinstance(release, str | Path) else release
    return loaded.sql(statement, confidence=confidence)
