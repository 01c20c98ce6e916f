"""The page of regions: the typical error of every table at every level, and the tables of the first levels."""

from typing import Any

from dpress.query.release import Release
from dpress.release.room import Page
from dpress.reporting.facts import facts
from dpress.reporting.frame import frame
from dpress.reporting.render import rendered

TEMPLATE = "kinds/regions/page.html.j2"


def page(release: Release) -> str:
    """Return the page as HTML."""
    shown: dict[str, Any] = frame(facts(release)) | {"tables": release.answers.tables}
    return rendered(TEMPLATE, shown)


PAGE = Page(page=page)
