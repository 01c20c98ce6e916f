"""Answers of a release of tables: a histogram or several marginals, from a table or from devices."""

from dpress.release.linear_error import predicted
from dpress.release.table_answers import TableAnswers as Answers
from dpress.release.table_answers import collected, measured, restored

__all__ = ["Answers", "collected", "measured", "predicted", "restored"]
