"""All that is checked of one case: it is run, looked at, and run again with neighbours of its table."""

import contextlib
import io
from pathlib import Path
from typing import NamedTuple

from tests.matrix import checks, neighbours, runs
from tests.matrix.axes import Case


class Verdict(NamedTuple):
    """What came of a case.

    Args:
        wrong: a sentence for everything that does not hold.
        held: how many of its intervals hold the truth.
        intervals: how many there are.
    """

    wrong: list[str]
    held: int
    intervals: int


def verdict(case: Case, folder: Path) -> Verdict:
    """Run a case and return what is wrong with it; what it dies of is wrong, too.

    Args:
        case: a value of every axis, which go together.
        folder: a new one.
    """
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            run = runs.run(case, folder / "run")
        except Exception as error:  # noqa: BLE001  # whatever it dies of is what is looked for
            return Verdict([f"{type(error).__name__}: {str(error)[:300]} {said.getvalue()[-300:]}"], 0, 0)
        wrong = [*checks.problems(run), *checks.safely(lambda: neighbours.differences(run, folder / "neighbours"))]
        try:
            held, intervals = checks.held(run)
        except Exception as error:  # noqa: BLE001  # the same
            return Verdict([*wrong, f"an answer: {type(error).__name__}: {str(error)[:300]}"], 0, 0)
    return Verdict(wrong, held, intervals)
