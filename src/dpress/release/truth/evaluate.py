"""A release against the truth: for the people who hold the data. Its output is not private."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpress import catalog
from dpress.core.basics.errors import NotSupported
from dpress.data.add_up import Progress
from dpress.query.release import Release
from dpress.release.source_rows import rows_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Remarks:
    """What goes beside the figures of a kind.

    Args:
        lines: before them.
        hint: what else could be compared; empty where nothing could.
    """

    lines: tuple[str, ...] = ()
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrueRows:
    """The rows that a release is compared with.

    Args:
        data: that it was made from.
        held_out: that it was not made from; None where nothing is tested on them.
        progress: called with the number of rows counted so far.
    """

    data: Any
    held_out: Any = None
    progress: Progress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How a kind is compared with the truth: `COMPARISON` of its `evaluate.py`.

    Args:
        evaluate: returns the figures, by their names.
        remarks: what goes beside them.
    """

    evaluate: Callable[[Release, TrueRows], dict[str, float]]
    remarks: Callable[[Release], Remarks] = lambda _: Remarks()


def compared_with(release: Release) -> str:
    """Return what a release is compared with, in a sentence, where that is not every row; empty elsewhere."""
    if not (counted := release.claim.unit.counted):
        return ""
    return (
        f"Compared with {counted}, drawn anew: which rows the release kept, nobody knows. How far two draws are apart "
        "is part of the errors, and not of the predicted one."
    )


def evaluate(
    release: Release,
    data: Any,
    *,
    held_out: Any = None,
    engine: str | None = None,
    progress: Progress | None = None,
) -> dict[str, float]:
    """Return the error of a release, in counts, against the rows it was made from; the figures are its kind's.

    Where persons keep a bounded number of rows, the truth is a fresh draw of so many, as publishing draws them: which
    rows the release kept, nobody knows. `redrawn_root_mean_squared_difference` says how far two such draws are apart.

    Args:
        release: of any kind.
        data: the rows that it was made from.
        held_out: of records, rows that they were not made from.
        engine: that counts them, see `publish`.
        progress: called with the number of rows counted so far.

    Raises:
        OSError, SchemaMismatch: the data cannot be read or does not fit the release's design.
        NotSupported: `held_out` where nothing is tested on it.

    >>> import dpress, pyarrow as pa
    >>> age = {"name": "age", "kind": "integer", "bounds": [0, 99], "bins": 10}
    >>> plain = {"attribute": [age], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}
    >>> release = dpress.publish(dpress.load_spec(plain), pa.table({"age": [34] * 900}))
    >>> dpress.evaluate(release, pa.table({"age": [34] * 900}))["cell_mean_absolute_error"] < 20
    True
    """
    room = catalog.room(release.design.kind)
    rows = rows_of(release.design, data, engine=engine)
    others = None if held_out is None else rows_of(release.design, held_out)
    if held_out is not None and not room.kind.takes_held_out:
        kinds = catalog.where("takes_held_out")
        raise NotSupported(f"--held-out tests a classifier that was trained on records: only for kind = {kinds}")
    return room.comparison.evaluate(release, TrueRows(data=rows, held_out=others, progress=progress))
