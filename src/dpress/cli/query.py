"""`dpress query`: answers from a release, and of each query that has none why."""

import dataclasses
import importlib
import itertools
import math
import sys
from collections.abc import Callable
from typing import Any

import click

import dpress
from dpress.cli import reasons
from dpress.cli.output import DECIMAL, counting, json_option, print_json, print_table, refitting, refusal
from dpress.core.basics.refusal import one_line
from dpress.inference.interval import critical
from dpress.query.explained import Explanation, explanations, together
from dpress.query.folder import is_series
from dpress.query.load import load_release
from dpress.query.published_tables import CONFIDENCE
from dpress.query.result import Result

Answered = list[Result] | ValueError  # of one query
Answering = Callable[[str], list[Result]]
SELDOM = ("group", "note", "unbiased", "within", "bin_width", "sampling", "population", "design_effect", "p_value")
ADJUSTED = (
    "Counts are adjusted so that none is below zero: biased, mostly nearer to the truth. "
    "Standard errors and intervals are those of the unbiased answers, intervals of tables cut to what is possible."
)


@click.command("query")
@click.argument("release", type=click.Path())
@click.argument("queries", nargs=-1, metavar="QUERY...")
@click.option("--sql", help="Statements instead of queries, or a file of them that ends in .sql.")
@click.option("--statement", type=int, help="Of `publish --sql`: the number of the statement that is answered, from 1.")
@click.option("--explain", is_flag=True, help="Say from which tables each answer comes, and why it errs as it does.")
@click.option("--csv", type=click.Path(), help="A new file for the answer to a statement.")
@click.option("--titles", is_flag=True, help="In the CSV titles in place of names, labels in place of values.")
@click.option("--parquet", type=click.Path(), help="The same, for programs.")
@click.option("--confidence", type=DECIMAL, default=CONFIDENCE, show_default=True, help="Of the interval.")
@json_option
def command(  # noqa: PLR0917  # options
    release: str,
    queries: tuple[str, ...],
    sql: str | None,
    statement: int | None,
    csv: str | None,
    parquet: str | None,
    confidence: float,
    *,
    titles: bool,
    explain: bool,
    as_json: bool,
) -> None:
    """Answer queries such as 'age in 30..40 and sex = Female' from RELEASE; spends nothing.

    Conditions alone are counted. 'mean age where sex = Female', 'sum hours', 'median age', 'quantile 0.9 of income',
    'share sex = Female where age < 30', 'ratio A / B' and 'count A - count B' ask for statistics; 'or', 'not' and
    parentheses join conditions, and any of these 'by ward, sex' has a line for every group. How attributes depend on
    each other say 'cost ~ age + sex', 'logistic smoker = yes ~ age', 'rank correlation age cost', 'independence A B'.

    --sql 'select ward, count(*) from release group by ward' asks in SQL, with an error and an interval beside every
    number.

    A note says so where an answer comes from a fitted joint distribution, is counted in synthetic records, or is about
    the rows that persons keep. A query that is refused has a line on standard error, and the others are answered.
    """
    _check(queries, sql, statement, (csv, parquet))
    if titles and csv is None:
        raise click.UsageError("--titles is for the file of --csv")
    critical(confidence, "gaussian")  # refuses it once, not for every query
    if sql is not None or statement is not None:
        statements = importlib.import_module("dpress.cli.statements")  # sqlglot takes a while to import
        files: dict[str, Any] = {"csv": csv, "parquet": parquet, "titles": titles}
        statements.show(release, sql, statement, confidence, explain=explain, as_json=as_json, **files)
        return
    with counting(quiet=as_json) as show:
        answering = _of_series(release, confidence) if is_series(release) else _of_release(release, confidence, show)
        answered = [_answered(answering, text) for text in queries]
        explained = _explained(release, queries, answered) if explain else []
    if as_json:
        entries = [entry for pair in zip(queries, answered, strict=True) for entry in _entries(*pair)]
        print_json(_with_reasons(entries, explained) if explain else entries)
    else:
        answers = [result for answer in answered if isinstance(answer, list) for result in answer]
        for _, results in itertools.groupby(answers, lambda result: result.query if result.group else ""):
            _show(list(results), confidence)
        if explained:
            click.echo()
            reasons.show(together(explained))
    for place, error in enumerate(answered, start=1):
        if isinstance(error, ValueError):
            refusal(f"query {place}: {one_line(error)}" if len(queries) > 1 else one_line(error))
    if any(isinstance(answer, ValueError) for answer in answered):
        sys.exit(1)


def _check(queries: tuple[str, ...], sql: str | None, statement: int | None, files: tuple[str | None, ...]) -> None:
    """Refuse what does not go together."""
    if [bool(queries), sql is not None, statement is not None].count(True) != 1:
        raise click.UsageError("ask queries, such as 'age in 30..40', or --sql 'select ...', or --statement 1")
    if queries and any(files):
        raise click.UsageError("--csv and --parquet are for the answer to --sql; of a release, its tables are files")


def _of_release(folder: str, confidence: float, show: Any) -> Answering:
    """Return how a release answers."""
    release = load_release(folder)
    return lambda text: [*release.results(text, confidence=confidence, progress=refitting(show))]


def _of_series(folder: str, confidence: float) -> Answering:
    """Return how a series answers; where nothing adds up over its periods, by one answer of each."""
    series = dpress.load_series(folder)
    return lambda text: [*series.results(text, confidence=confidence)]


def _explained(folder: str, queries: tuple[str, ...], answered: list[Answered]) -> list[Explanation]:
    """Return why the answers to the queries that have some err as they do."""
    if is_series(folder):
        raise ValueError(f"{folder} is a series of releases; --explain explains those of one period: give its folder")
    release = load_release(folder)
    pairs = zip(queries, answered, strict=True)
    return [each for text, answer in pairs if isinstance(answer, list) for each in explanations(release, text)]


def _with_reasons(entries: list[dict[str, Any]], explained: list[Explanation]) -> list[dict[str, Any]]:
    """Return the answers for JSON with their explanations; refused queries have none."""
    left = iter(explained)
    return [entry if "error" in entry else entry | {"explained": reasons.plain(next(left))} for entry in entries]


def _answered(answering: Answering, text: str) -> Answered:
    """Return the answers to one query, or why there is none."""
    try:
        return answering(text)
    except ValueError as error:
        return error


def _entries(text: str, answered: Answered) -> list[dict[str, Any]]:
    """Return a query's answers for JSON, or the query and why it is refused."""
    if isinstance(answered, ValueError):
        return [{"query": text, "error": one_line(answered)}]
    return [_plain(result) for result in answered]


def _show(results: list[Result], confidence: float) -> None:
    """Print a table of answers, and what is to be known of them."""
    unbiased = ("unbiased",) if any(result.unbiased is not None for result in results) else ()
    within = ("cells leave open",) if any(result.bin_width for result in results) else ()
    value = "count" if all(result.of == "count" for result in results) else "value"
    names = tuple(name for name, _ in results[0].group) or ("query",)
    both = ("with sampling",) if any(result.population for result in results) else ()
    tests = ("p",) if any(result.p_value is not None for result in results) else ()
    header = (*names, value, *unbiased, "standard error", f"{100 * confidence:.4g} % interval", *within, *both, *tests)
    rows = [_row(result, unbiased, within) + [result.both or "-"] * len(both) for result in results]
    rows = [row + [result.significance or "-"] * len(tests) for row, result in zip(rows, results, strict=True)]
    print_table(header, rows, numbers=tuple(range(len(names), len(header))))
    if unbiased:
        click.echo(ADJUSTED)
    notes = dict.fromkeys(result.note for result in results if result.note is not None)
    for note in notes:
        if not any(other.endswith(f" {note}") for other in notes):
            click.echo(note)


def _row(result: Result, unbiased: tuple[str, ...], within: tuple[str, ...]) -> list[str]:
    """Return a line of the table, `-` where nothing is known; with the columns that only some answers have."""
    value, error, interval = (text.replace("not known", "-") for text in result.texts)
    beside = ["-" if result.unbiased is None else f"{result.unbiased:,.1f}"] if unbiased else []
    ends = [result.ends if result.bin_width else "-"] if within else []
    place = [label for _, label in result.group] or [result.query]
    return [*place, value, *beside, error, interval, *ends]


def _plain(result: Result) -> dict[str, Any]:
    """Return a result for JSON: null where nothing is known or bounded; some fields only where they are set."""
    every = dataclasses.asdict(result) | {"bin_width": result.bin_width, "group": dict(result.group) or None}
    del every["of"]
    plain = {name: _finite(value) for name, value in every.items() if value is not None or name not in SELDOM}
    return plain | ({"interval": None} if math.isnan(result.interval[0]) else {})


def _finite(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
