"""`dpress plan`: candidate methods for a spec, with predicted error."""

import math

import click

from dpress.cli.output import beside, hint, json_option, lifetime_of, number, print_json, print_table, searching
from dpress.cli.plan_map import show_maps
from dpress.cli.plan_records import plain_records, show_records
from dpress.core.claim import as_floats, describe
from dpress.data.spec import load_spec
from dpress.kinds.spatial.text import side
from dpress.mechanisms.protocol.collection import Collection
from dpress.release.candidate import UNIT, Candidate, Mechanism
from dpress.release.local_plan import caution, expected_users
from dpress.release.plan import plan
from dpress.release.table_plan import SEARCH


@click.command("plan")
@click.argument("spec", type=click.Path())
@json_option
def command(spec: str, *, as_json: bool) -> None:
    """Candidate methods for SPEC with predicted error and claim, the chosen one, and the lower bound."""
    loaded = load_spec(spec)
    with searching(loaded.release.parameters.get(SEARCH), quiet=as_json):
        planned = plan(loaded)
    spatial, records = loaded.release.kind == "spatial", loaded.release.kind == "microdata"
    if as_json:
        print_json(
            {
                "candidates": [
                    plain_records(one) if records else _plain(one, spatial=spatial) for one in planned.candidates
                ],
                "chosen": planned.chosen.method,
                "lower_bound": planned.lower_bound,
            }
        )
        return
    if spatial or records:
        (show_maps if spatial else show_records)(loaded, planned)
        return
    rows = [_row(candidate, chosen=candidate is planned.chosen) for candidate in planned.candidates]
    local = loaded.privacy.model == "local"
    header = ("", "method", "proven", "mean variance", "typical error", *(("asks", "bytes") if local else ()))
    print_table(header, rows, numbers=(3, 4, 6))
    if local:
        if (lifetime := lifetime_of(planned.chosen.mechanism)) is not None:
            proven = describe(planned.chosen.mechanism.claim.proven)
            click.echo(f"{planned.chosen.method}: {proven} (proven) for each report{beside(lifetime)}.")
        for baseline in [one for one in planned.candidates if one.assumes]:
            click.echo(f"{baseline.method}: {_note(baseline)}.")
        if (note := caution(loaded)) is not None:
            hint(note, quiet=False)
        even = "shares drawn evenly" if loaded.release.kind == "joint" else "all values equally frequent"
        click.echo(f"Predicted for {expected_users(loaded):,} users, {even}; counts of all users.")
    what = "In these ways of asking, no private report" if local else "No strategy with this noise"
    if local and any(one.assumes and one is not planned.chosen for one in planned.candidates):
        what = "In these ways of asking, and without that assumption, no private report"
    click.echo(f"{what} has a mean variance below {number(planned.lower_bound)} {UNIT}.")


def _plain(candidate: Candidate, *, spatial: bool) -> dict[str, object]:
    claim = candidate.mechanism.claim
    return {
        "method": candidate.method,
        "claim": {"published": as_floats(claim.published), "proven": as_floats(claim.proven)},
        "predicted_error": candidate.predicted_error,
        "unit": UNIT,
        **({"note": _note(candidate)} if candidate.assumes else {}),
        **_asked(candidate),
        **({"side": side(candidate.mechanism)} if spatial else {}),
    }


def _note(baseline: Candidate) -> str:
    return (
        f"the baseline, whose figure supposes {baseline.assumes}; how far they are not is left out, and no number of "
        'users mends it. method = "auto" never takes it'
    )


def _asked(candidate: Candidate) -> dict[str, object]:
    """Return what a collection asks of a user, and the largest payload of a report, in bytes."""
    mechanism = candidate.mechanism
    if not isinstance(mechanism, Collection):
        return {}
    questions = mechanism.questions
    return {
        "split": mechanism.split,
        "attributes_asked": max(len(question.axes) for question in questions),
        "report_bytes": max(question.width for question in questions),
    }


def _asks(mechanism: Mechanism) -> str:
    """Return how many of the attributes a user is asked about."""
    if not isinstance(mechanism, Collection):
        return ""
    most = max(len(question.axes) for question in mechanism.questions)
    words = {1: "one attribute", len(mechanism.shape): "all attributes"} if len(mechanism.shape) > 1 else {}
    return words.get(most, f"{most} attributes" if most > 1 else "one attribute")


def _row(candidate: Candidate, *, chosen: bool) -> list[str]:
    error = candidate.predicted_error
    claim = describe(candidate.mechanism.claim.proven)
    asked = _asked(candidate)
    local = [_asks(candidate.mechanism), f"{asked['report_bytes']:,}"] if asked else []
    return ["*" if chosen else "", candidate.method, claim, number(error), f"+- {math.sqrt(error):,.1f}", *local]
