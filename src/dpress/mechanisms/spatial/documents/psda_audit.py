"""Audit of places in safe regions: a promise about places of one region, so that there must be one only."""

from dataclasses import replace

from dpress.core.reports.oracle import Oracle
from dpress.mechanisms.spatial.documents.psda import Psda


def sent(made: Psda) -> list[tuple[str, Oracle]]:
    """Return what makes the reports."""
    return [("one safe region", replace(made.oracle, region_levels=(0,)))]
