"""`dpress plan`: candidate methods for a spec, with predicted error; the chosen one as a design."""

import dataclasses
import importlib
import math
from typing import Any

import click
from msgspec import UNSET

from dpress import catalog
from dpress.cli.output import DECIMAL, hint, json_option, planning, print_json, print_table, quiet_option
from dpress.cli.planned import plan_of
from dpress.core.basics.claim_words import chosen_rows
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.any_loss import parameters
from dpress.core.basics.new_path import new_file
from dpress.data.specification.spec import Spec, load_spec
from dpress.query.designs import save_design
from dpress.release.periods.calendar import Calendar
from dpress.release.plan.candidate import UNIT
from dpress.release.plan.other_kinds import OtherKind, other_kinds
from dpress.release.plan.plan import Plan
from dpress.release.plan.plan_for_error import sentence as found
from dpress.release.plan.plan_text import Listing, PlanText, doubts, number
from dpress.release.plan.shuffled import Shuffled, sentence
from dpress.release.plan.shuffled import shuffled as of_collection
from dpress.release.plan.with_delta import sentence as of_delta
from dpress.release.plan.with_delta import with_delta

CAP = "rows_per_unit = k needs up to k times the noise of 1 and leaves out fewer rows; `dpress check` tells how many"


@click.command("plan")
@click.argument("spec", type=click.Path())
@click.option("--out", type=click.Path(), help="A new file for the chosen method's design.")
@click.option("--shuffled", is_flag=True, help="Also the promise of all reports together if somebody shuffles them.")
@click.option("--delta", help="The probability that the promise of --shuffled leaves open, as 1e-8.")
@click.option("--error", type=DECIMAL, help="A typical error, as 25 counts: plan with the smallest budget for it.")
@click.option("--sql", help="Statements in place of [release], or a file of them that ends in .sql.")
@click.option("--weights", help="Of the statements, as 2,1: twice the weight is half the error.")
@quiet_option
@json_option
def command(
    spec: str,
    out: str | None,
    delta: str | None,
    error: float | None,
    *,
    sql: str | None,
    weights: str | None,
    shuffled: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Candidate methods for SPEC with predicted error and claim, the chosen one, and the lower bound.

    With --sql, what statements over the table of SPEC will say: their releases, and the error of every number.
    """
    if sql is not None:
        if out or delta or error or shuffled:
            raise click.UsageError("--sql goes with --weights and --json; `dpress publish --sql` acts on the same plan")
        importlib.import_module("dpress.cli.statement_plan").plan(spec, sql, weights, quiet=quiet, as_json=as_json)
        return
    _check(out, delta, shuffled=shuffled)
    loaded, calendar = _loaded(spec, error)
    with planning(loaded.release.parameters.get("seconds"), quiet=quiet or as_json):
        planned = plan_of(loaded, spec, error)
    together = None if delta is None else _shuffled(planned, delta)
    if out is not None:
        save_design(planned.design, out)
    if as_json:
        plain = {**_plain(planned, calendar), **_beside(planned, together, error)}
        print_json(plain if out is None else {**plain, "design": out, "id": planned.design.id})
        return
    _show(catalog.room(planned.design.kind).words.text(planned), quiet=quiet)
    if error is not None:
        click.echo(found(planned, error))
    if calendar is not None:
        _show_periods(calendar)
    if together is not None:
        click.echo(sentence(together))
    _show_counted(planned)
    _show_others(planned, quiet=quiet)
    if out is not None:
        click.echo(f"Design: {out}, {planned.design.id}")


def _show_counted(planned: Plan) -> None:
    """Print which rows are counted, where those are not all."""
    for words in chosen_rows(planned.spec.where, whom=planned.design.whom):
        click.echo(words)
    counted = planned.spec.privacy.protected.counted
    if counted and not planned.design.local and not planned.design.whom:
        click.echo(f"Counts are of {counted}: {CAP}")


def _show_others(planned: Plan, *, quiet: bool) -> None:
    """Print what a budget makes doubtful, what a delta and what other kinds of release would give."""
    for words in doubts(planned.spec.privacy.loss, planned.spec.release.parameters):
        hint(words, quiet=quiet)
    if (better := with_delta(planned)) is not None:
        click.echo(of_delta(better, planned))
    for other in other_kinds(planned):
        click.echo(_sentence(other, planned))


def _check(out: str | None, delta: str | None, *, shuffled: bool) -> None:
    """Refuse what would be refused after the plan."""
    if shuffled != (delta is not None):
        raise click.UsageError("--shuffled and --delta go together: --shuffled --delta 1e-8")
    if out is not None:
        new_file(out, "a design is")


def _loaded(path: str, error: float | None) -> tuple[Spec, Calendar | None]:
    """Return a specification; of a series that of its first period, and its calendar."""
    spec = load_spec(path)
    if spec.periods is UNSET:
        return spec, None
    if error is not None:
        raise NotSupported("--error is of one release; every period has a budget of its own: leave out [periods]")
    calendar = Calendar(spec)
    return calendar.of(calendar.spans[0]), calendar


def _plain(planned: Plan, calendar: Calendar | None) -> dict[str, Any]:
    """Return the candidates as plain data, and of a series how running totals are kept."""
    words = catalog.room(planned.design.kind).words
    grown = {} if calendar is None else {"counter": calendar.counter, "counters": calendar.plain}
    return {
        "candidates": [words.plain(planned, candidate) for candidate in planned.candidates],
        "chosen": planned.chosen.method,
        "lower_bound": planned.lower_bound,
        "with_delta": with_delta(planned),
        "other_kinds": other_kinds(planned),
        **grown,
    }


def _beside(planned: Plan, together: Shuffled | None, error: float | None) -> dict[str, Any]:
    """Return what was asked for beside the plan, as plain data."""
    shuffled = {} if together is None else {"shuffled": dataclasses.asdict(together)}
    return (
        shuffled
        if error is None
        else {**shuffled, "budget": {name: float(cost) for name, cost in parameters(planned.spec.privacy.loss).items()}}
    )


def _shuffled(planned: Plan, delta: str) -> Shuffled:
    if (collection := planned.chosen.collection) is None:
        raise NotSupported('$.privacy.model: --shuffled is of reports from devices, model = "local"')
    return of_collection(collection, planned.choice.users, delta)


def _sentence(other: OtherKind, planned: Plan) -> str:
    """Return what another kind would change, and the error of its answers."""
    what = "the same" if planned.choice.unit == UNIT else "tables"
    if other.predicted_error is None:
        return f"Or {other.change}: answers the same, with an error that is not known beforehand; see {other.page}"
    typical = f"typical error +- {math.sqrt(other.predicted_error):,.1f}"
    return (
        f"Or {other.change}: answers {what} by {other.method}, mean variance {number(other.predicted_error)}, {typical}"
    )


def _show(text: PlanText, *, quiet: bool) -> None:
    _table(text.candidates)
    for remark in text.remarks:
        if isinstance(remark, Listing):
            _table(remark)
        else:
            click.echo(remark)
    for words in text.hints:
        hint(words, quiet=quiet)


def _show_periods(calendar: Calendar) -> None:
    for line in calendar.text:
        click.echo(line)
    if calendar.comparison is not None:
        _table(calendar.comparison)


def _table(listing: Listing) -> None:
    print_table(listing.header, listing.rows, numbers=listing.numbers)
