"""The days that a release is about, as people say them: the only cell of an attribute of dates -> `February 2013`."""

import calendar
import datetime as dt

from dpress.attributes.domain import Schema


def during(schema: Schema) -> str:
    """Return the period that a release is of, in words; empty where no attribute is one cell of dates."""
    bounds = [date.bounds for each in schema.tabular if each.size == 1 and (date := each.calendar) is not None]
    return period_words(*bounds[0]) if bounds and bounds[0] is not None else ""


def period_words(first: dt.date, last: dt.date) -> str:
    """Return some days in words, whole months and years by their names.

    >>> day = dt.date
    >>> period_words(day(2013, 2, 1), day(2013, 2, 28)), period_words(day(2013, 1, 1), day(2014, 12, 31))
    ('February 2013', '2013 to 2014')
    >>> period_words(day(2013, 2, 1), day(2013, 3, 31)), period_words(day(2013, 2, 4), day(2013, 2, 10))
    ('February to March 2013', '4 to 10 February 2013')
    """
    after = last + dt.timedelta(1)
    left_out = 0 if first.day > 1 or after.day > 1 else 1 if first.month > 1 or after.month > 1 else 2
    begin, end = ([str(day.day), calendar.month_name[day.month], str(day.year)][left_out:] for day in (first, last))
    if begin == end:
        return " ".join(end)
    while begin[-1] == end[len(begin) - 1]:
        begin.pop()
    return f"{' '.join(begin)} to {' '.join(end)}"
