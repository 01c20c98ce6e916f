"""Answers of a release of statistics: of a table's groups, or of the owners of devices."""

from dpress.kinds.statistics.devices.answers import DeviceAnswers
from dpress.kinds.statistics.group_answers import GroupAnswers
from dpress.query.answering import Answering
from dpress.query.release import Release


def answers(*, release: Release) -> GroupAnswers:
    """Return the answers of a release: those of a table's groups, or of devices."""
    return DeviceAnswers(release=release) if release.design.local else GroupAnswers(release=release)


ANSWERING = Answering(answers=answers)
