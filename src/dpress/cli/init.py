"""`dpress init`: begins a specification by asking about every column of a file; no row is read."""

import sys

import click

from dpress.cli.output import json_option, print_json
from dpress.core.basics.claim import Relation
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.new_path import new_file
from dpress.data.sources import files
from dpress.data.sources.first_bytes import Proposal, proposed
from dpress.data.sources.open_source import open_source, sheet_of
from dpress.data.specification.spec import load_spec
from dpress.studio import written
from dpress.studio.draft import Column, Draft, Wish, column, with_columns
from dpress.studio.session import file_format
from dpress.studio.table_codebook import read as read_codebook

SKIP = "skip"
KINDS = (SKIP, "categorical", "ordinal", "integer", "numeric", "date", "datetime", "hierarchy")
NO_TERMINAL = "init asks at a terminal, and nobody answers: write the specification by hand, or use `dpress studio`"
PUBLIC = "No row is read: which values a column may have is public knowledge, from a questionnaire or a register."


@click.command("init")
@click.argument("source", metavar="FILE")
@click.option("--out", type=click.Path(), default="spec.toml", show_default=True, help="The new specification.")
@click.option("--codebook", type=click.Path(), help="A CSV with column,value,label, or a file of SPSS or Stata.")
@json_option
def command(source: str, out: str, codebook: str | None, *, as_json: bool) -> None:
    """Begin a specification of FILE: what its columns may hold, and whom you protect. Only names and types are read.

    FILE is a file, a folder, a glob or DATABASE#TABLE. What is published is a table of each attribute; change
    [release] for more, or use `dpress studio`.
    """
    place = new_file(out, "a specification is")
    try:
        draft = _answered(source, codebook)
    except click.Abort:
        if sys.stdin.isatty():
            raise
        click.echo(err=True)  # ends the line of the prompt
        raise ValueError(NO_TERMINAL) from None
    text = written.specification(draft, Wish(name=place.stem), {"epsilon": draft.epsilon}, place.parent)
    load_spec(text)
    place.write_text(text, encoding="utf-8")
    if as_json:
        print_json({"spec": str(place)})
        return
    click.echo(f"Spec: {place}\nNext: dpress plan {place}; dpress check {place}")


def _answered(source: str, codebook: str | None) -> Draft:
    """Return a draft as somebody answers."""
    draft = Draft(source=source)
    if written.is_text(source):
        _ask_how_written(draft)
    elif (sheet := sheet_of(source)) is not None:
        _ask_skip(draft, sheet.proposal())
        _ask_lines(draft, sheet.proposal())
    draft = with_columns(draft, open_source(source, file_format(draft)).source.declared())
    listed = {entry.name: column(entry) for entry in ([] if codebook is None else read_codebook(codebook))}
    click.echo(PUBLIC, err=True)
    draft.columns = [_described(listed.get(column.name, column)) for column in draft.columns]
    if not any(column.use for column in draft.columns):
        raise ValueError("every column was skipped; a specification needs at least one attribute")
    _ask_whom(draft)
    draft.epsilon = click.prompt("Privacy loss, epsilon (0.1 is strong, 1 is usual, above 3 is weak)", err=True)
    return draft


def _ask_how_written(draft: Draft) -> None:
    """Ask how a file of text is written; what its first bytes look like is proposed, and stated only as answered."""
    paths = files.named(draft.source)
    files.stamp_of(paths)  # which says that there is none, or nothing in it
    proposal = proposed(paths[0])
    _ask_skip(draft, proposal)
    line = f"line {int(draft.skip) + 1}" if int(draft.skip or 0) else "the first line"
    draft.names_in_first_line = click.confirm(f"Does {line} hold the names of the columns?", err=True)
    sign = {"\t": "tab"}.get(proposal.separator, proposal.separator)
    draft.separator = click.prompt("Sign between fields", default=sign, err=True)
    click.echo(
        f"The first bytes look like {proposal.encoding}; the specification, which is public, states it.", err=True
    )
    draft.encoding = click.prompt("Encoding of the text", default=proposal.encoding, err=True)
    _ask_lines(draft, proposal)


def _ask_skip(draft: Draft, proposal: Proposal) -> None:
    """Ask how many lines stand before that of the names, where some look so."""
    if proposal.skip:
        draft.skip = str(click.prompt("Lines before that of the names", default=proposal.skip, err=True))


def _ask_lines(draft: Draft, proposal: Proposal) -> None:
    """Ask which other lines are no rows, where some look so."""
    if proposal.header_rows > 1:
        draft.header_rows = str(click.prompt("Lines of names, which are joined", default=2, err=True))
    if proposal.footer:
        draft.footer = str(click.prompt("Lines behind the rows", default=proposal.footer, err=True))


def _described(column: Column) -> Column:
    """Return a column as somebody describes it, asked again until it is an attribute."""
    shown = f"{column.name} ({column.type})" if column.type else column.name
    while True:
        kind = click.prompt(f"{shown}: what is it?", type=click.Choice(KINDS), default=SKIP, err=True)
        column.use, column.kind = kind != SKIP, "" if kind == SKIP else kind
        if not column.use:
            return column
        _ask_cells(column)
        try:
            load_spec(written.alone(column))
        except (SchemaMismatch, OSError) as error:
            click.echo(f"  {written.fault(error)}", err=True)
            continue
        return column


def _ask_cells(column: Column) -> None:
    if column.kind in written.LISTED:
        if column.values:
            click.echo(f"  values of the codebook: {', '.join(column.values.splitlines())}", err=True)
        else:
            column.values = "\n".join(_ask("values, with commas between them").split(","))
        column.other = _ask("anything else is counted as (empty: refuse the table)", default="")
        return
    if column.kind == "hierarchy":
        column.levels = _ask("levels, coarse to fine, with commas between them")
        column.tree = _ask("the public file of all codes, a row a code, a column a level")
        column.other = _ask("anything else is counted as (empty: refuse the table)", default="")
        return
    first, last = ("first day", "last day") if column.kind in written.CALENDAR else ("lower bound", "upper bound")
    column.low, column.high = _ask(first), _ask(last)
    if column.kind in written.CALENDAR:
        column.cells = _ask("counted by day, week, month, quarter or year")
        column.zone = _ask("clocks of, such as Europe/Berlin") if column.kind == "datetime" else ""
    else:
        column.bins = _ask("bins (empty: one for each integer)", default="")


def _ask(words: str, default: str | None = None) -> str:
    return str(click.prompt(f"  {words}", default=default, show_default=False, err=True))


def _ask_whom(draft: Draft) -> None:
    words = "Whom do you protect? A person has several rows, which one column tells"
    draft.unit = click.prompt(words, type=click.Choice(["row", "person"]), err=True)
    if draft.unit == "person":
        names = [column.name for column in draft.columns]
        draft.person = click.prompt("Column that names the person", type=click.Choice(names), err=True)
        draft.rows_per_unit = str(click.prompt("At most so many rows of each person count", type=int, err=True))
    relations = click.Choice([relation.value for relation in Relation])
    draft.relation = click.prompt(
        "Tables that nobody can tell apart differ by", type=relations, default="add-remove", err=True
    )
