"""The report: one HTML file that opens offline, needs no script and asks nobody for anything.

Data flow: release -> words, tables, figures -> template -> file.
"""

import importlib.metadata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from dpress.data.toml import as_toml
from dpress.kinds.microdata.answers import MicrodataRelease
from dpress.release.release import Release
from dpress.report import (
    adjusted,
    departures,
    error_words,
    figures,
    joint_words,
    map_page,
    micro_page,
    pairs,
    tables,
    words,
)
from dpress.report.figures import Figure
from dpress.report.map_page import MapPart
from dpress.report.render import rendered
from dpress.report.rounding import loss, number
from dpress.report.said import noun, promised
from dpress.report.tables import Table
from dpress.report.views import View, asked, published

TEMPLATE = "page.html.j2"
MOST_VIEWS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One table of results: a heading, its figure and its cells, and for a pair where it departs from independence."""

    name: str
    figure: Figure
    table: Table
    departure: Figure | None = None


def write_report(release: Release, path: str | Path, *, queries: Sequence[str] = ()) -> Path:
    """Write the report of a release, replacing an older one, and return its path.

    Args:
        release: just published, or loaded.
        path: the HTML file.
        queries: to draw on a map; see `page`.

    Raises:
        NotSupported: the extra `[report]` is not installed, or there are queries and no map.
        ValueError: a text is no query on the map's columns.
        OSError: the file cannot be written.
    """
    text = page(release, queries=queries)
    path = Path(path)
    path.write_text(text, encoding="utf-8")
    return path


def page(release: Release, *, queries: Sequence[str] = ()) -> str:
    """Return the report as HTML.

    Args:
        release: just published, or loaded.
        queries: to draw on a map, with their answers; left out, the middle ninth of its box.

    Raises:
        NotSupported: the extra `[report]` is not installed, or there are queries and no map.
        ValueError: a text is no query on the map's columns.
    """
    if isinstance(release, MicrodataRelease):
        return micro_page.page(release, queries)
    return rendered(TEMPLATE, _context(release, queries))


def _context(release: Release, queries: Sequence[str]) -> dict[str, Any]:
    whole, sums = published(release), asked(release)
    mapped = map_page.map_part(release, whole, queries)
    promise, own = words.guarantee(release), words.said(release)
    planned = release.planned
    several = sum(one is planned.chosen or not one.assumes for one in planned.candidates) > 1
    return {
        "release": release,
        "said": own,
        "noun": noun(release),
        "title": own.title,
        "stamp": words.stamp(release),
        "verdict": words.verdict(release, error_words.typical(release)),
        "keys": _keys(release, whole, mapped),
        "guarantee": promise,
        "odds": figures.odds_figure(promise.odds) if promise.odds else None,
        **_results(release, whole, sums, mapped),
        "map": mapped,
        "accuracy": error_words.accuracy(release),
        "candidates": figures.candidates_figure(release.planned, noun(release)) if several else None,
        "charged": loss(release.charged),
        "toml": as_toml(release.spec),
        "version": importlib.metadata.version("dpress"),
    }


def _results(release: Release, whole: list[View], sums: list[View], mapped: MapPart | None) -> dict[str, Any]:
    command, answer = error_words.example(release)
    found = pairs.pairs(release)
    views, most = (_in_order(release, whole, found), pairs.MOST_PAIRS) if found else (sums or whole, MOST_VIEWS)
    views = views if mapped is None else []  # a map is drawn as one
    return {
        "parts": [_part(release, view, pair) for view, pair in zip_longest(views[:most], found[:most])],
        "hidden": max(0, len(views) - most),
        "joint": joint_words.joint_words(release, found),
        "sums": bool(sums),
        "files": tables.files(whole) if mapped is None else map_page.files(whole[0]),
        "attributes": tables.attributes(release, words.said(release).fates),
        "counts": _counts(whole),
        "command": command,
        "answer": answer,
        "total": error_words.total(release),
        "adjusted": adjusted.effect(release, whole) if mapped is None else None,
    }


def _in_order(release: Release, whole: list[View], found: list[pairs.Pair]) -> list[View]:
    """Return the tables of these pairs, in their order."""
    by_axes = dict(zip(release.planned.chosen.mechanism.decoder.tables, whole, strict=True))
    return [by_axes[pair.axes] for pair in found]


def _part(release: Release, view: View, pair: pairs.Pair | None) -> Part:
    return Part(
        name=view.name,
        figure=figures.figure(release, view),
        table=tables.table(view),
        departure=None if pair is None else departures.figure(release, view, pair),
    )


def _counts(whole: list[View]) -> dict[str, str]:
    """Return how many published cells there are, and how many are below zero, unclear or fractional."""
    flat = np.concatenate([view.count.ravel() for view in whole])
    return {
        "cells": number(flat.size),
        "below": number(int(np.count_nonzero(flat < 0))),
        "unclear": number(sum(view.unclear for view in whole)),
        "fractional": number(int(np.count_nonzero(flat % 1))),
        "misses": number(-(-flat.size // 20)),
    }


def _keys(release: Release, whole: list[View], mapped: MapPart | None) -> list[tuple[str, str, str]]:
    promise = promised(release)
    status = "proven" if release.claim.proven else "claimed, not proven" if promise else "this release is not private"
    cells, tables_said = number(sum(view.count.size for view in whole)), f"in {len(whole)} table{'s'[: len(whole) - 1]}"
    return [
        ("Guarantee", loss(promise), status),
        (
            "Typical error, predicted",
            f"± {error_words.typical(release)}",
            f"{noun(release)}, over {error_words.over(release)}",
        ),
        ("Cells", mapped.side, mapped.cell or "on one map") if mapped else ("Cells", cells, tables_said),
        ("Budget charged", loss(release.charged), words.said(release).charged),
    ]
