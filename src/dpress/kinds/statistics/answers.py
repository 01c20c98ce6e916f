"""Answers of a release of statistics: of a table's groups, or of the owners of devices."""

from dpress.kinds.statistics import product
from dpress.kinds.statistics.group_answers import GroupAnswers
from dpress.query.answering import Answering
from dpress.query.release import Release


def answers(*, release: Release) -> GroupAnswers:
    """Return the answers of a release."""
    of_product: Answering[GroupAnswers] = product.part("answers", product.of_design(release.design)).ANSWERING
    return of_product.answers(release=release)


ANSWERING = Answering(answers=answers)
