"""Answers of a release of statistics: of a table's groups, or of the owners of devices."""

from dpress.core.methods.mechanism import Mechanism
from dpress.kinds.statistics.device_answers import DeviceAnswers
from dpress.kinds.statistics.group_answers import GroupAnswers
from dpress.query.kept_integers import collected, live, measured, restored
from dpress.query.release import Release

__all__ = ["Answers", "collected", "live", "measured", "predicted", "restored"]


def Answers(release: Release) -> GroupAnswers:  # noqa: N802  # it stands for the class of a room's answers
    """Return the answers of a release: those of a table's groups, or of devices."""
    return DeviceAnswers(release=release) if release.design.local else GroupAnswers(release=release)


def predicted(mechanism: Mechanism, workload: object) -> None:
    """Return nothing: what is predicted is for the number of rows that the plan was made for."""
    del mechanism, workload
