"""The page of sets: how many people hold each value, and how many values a person holds.

Data flow: release -> facts, the table's view -> `page.html.j2`.
"""

import math
from collections.abc import Sequence

from dpress.release.release import Release
from dpress.reporting import page_tables
from dpress.reporting.accuracy import answered, example, query_of, total
from dpress.reporting.counts import counts, part, predicted
from dpress.reporting.facts import facts
from dpress.reporting.frame import frame
from dpress.reporting.render import rendered
from dpress.reporting.rounding import number

TEMPLATE = "kinds/sets/page.html.j2"


def page(release: Release, queries: Sequence[str] = ()) -> str:
    """Return the page as HTML; it draws no queries."""
    del queries
    own, answers = facts(release), release.answers
    whole, size = own.views, answers.set_size
    context = {
        **frame(own),
        **predicted(own, lambda one: f"{one.method}, {one.asks}"),
        "counts": counts(whole),
        "parts": [part(own, view) for view in whole],
        "hidden": 0,
        "findings": None,
        "files": page_tables.files(whole),
        "example": example(own, query_of((answers.attribute,))),
        "total": total(own),
        "adjusted": None,
        "cap": answers.method.cap,
        "asked": max(one.size for one in answers.method.reports),
        "mean_size": number(size.mean, 10.0 ** math.floor(math.log10(max(1e-9, math.sqrt(size.variance))))),
        "size_answer": answered(own.query("set size")),
    }
    return rendered(TEMPLATE, context)
