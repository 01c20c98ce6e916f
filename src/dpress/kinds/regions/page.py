"""The page of regions: choose one and read its tables beside its neighbours', on a map and in a list.

Data flow: release -> facts, the levels that fit into a page -> `page.html.j2`.
"""

import importlib.resources
from typing import Any

from dpress.kinds.regions import page_text
from dpress.kinds.regions.answers import ANSWERING, Answers
from dpress.kinds.regions.page_levels import page_levels
from dpress.kinds.regions.page_numbers import page_numbers
from dpress.query.release import Release
from dpress.release.room import Page
from dpress.reporting.accuracy import accuracy, total
from dpress.reporting.added_noise import added_noise
from dpress.reporting.counted import opened
from dpress.reporting.facts import Facts, facts
from dpress.reporting.frame import frame
from dpress.reporting.page_script import script
from dpress.reporting.render import rendered
from dpress.reporting.rounding import number

TEMPLATE = "kinds/regions/page.html.j2"
STYLE = "kinds/regions/page.css"
MOST_NOISES = 3  # distributions that are told one by one


def page(release: Release) -> str:
    """Return the page as HTML."""
    style = (importlib.resources.files("dpress") / STYLE).read_text(encoding="utf-8")
    return rendered(TEMPLATE, context(facts(release), ANSWERING.of(release)), style=style)


def context(facts: Facts, answers: Answers) -> dict[str, Any]:
    """Return the facts that the template names."""
    levels = page_levels(answers)
    below, cells = page_text.below_zero(answers, levels)
    finest, noise = answers.levels[-1], added_noise(facts.mechanism.noisy)
    deviations = sorted(distribution.deviation for distribution in noise.distributions)
    return {
        **frame(facts),
        **opened(facts, [attribute for attribute in facts.schema.tabular if attribute.spine is None]),
        "data": page_numbers(facts, answers, levels),
        "script": script("regions"),
        "accuracy": accuracy(facts),
        "noise": noise,
        "spread": (deviations[0], deviations[-1]) if len(deviations) > MOST_NOISES else None,
        "total": total(facts),
        "levels": answers.levels[1:],
        "regions": number(answers.queries.measured.spine.sizes[-1]),
        "finest": finest,
        "shown_as": page_text.shown_as(answers, levels, facts),
        "shown": page_text.in_the_page(answers, levels),
        "whole": page_text.whole(answers, levels),
        "upper": list(page_text.upper_tables(answers, levels, facts)),
        "most_regions": page_text.MOST_REGIONS,
        "below": below,
        "cells": cells,
        "errors": page_text.typical_errors(answers),
        "records": answers.beside.get("records"),
        "files": page_text.files(answers),
        "commands": page_text.commands(answers),
    }


PAGE = Page(page=page)
