"""`dpress perturb`: the device side over a file of people, for simulation."""

import time

import click

from dpress.cli.output import beside, counting, hint, json_option, lifetime_of, print_json, promised, quiet_option
from dpress.cli.swapped import remarking
from dpress.core.claim import as_floats
from dpress.data.spec import load_spec
from dpress.kinds.spatial.text import promise
from dpress.release.plan import plan
from dpress.release.simulate import perturb


@click.command("perturb")
@click.argument("spec", type=click.Path())
@click.option("--data", type=click.Path(), help="A CSV or Parquet file, a person a row; overrides the spec's source.")
@click.option("--out", type=click.Path(), required=True, help="The new Parquet file of reports.")
@click.option("--allow-unproven", is_flag=True, help="Also run a method whose claim has no proof.")
@quiet_option
@json_option
def command(spec: str, data: str | None, out: str, *, allow_unproven: bool, quiet: bool, as_json: bool) -> None:
    """Simulate the devices of the collection that SPEC describes: one report for every row of a file of people."""
    started = time.perf_counter()
    loaded = load_spec(spec)
    with remarking(loaded, data, quiet=quiet), counting(quiet=quiet) as progress:
        reports = perturb(loaded, data, out=out, allow_unproven=allow_unproven, progress=progress)
    chosen = plan(loaded).chosen
    claim, lifetime = chosen.mechanism.claim, lifetime_of(chosen.mechanism)
    if as_json:
        plain = {"published": as_floats(claim.published), "proven": as_floats(claim.proven)}
        seconds = time.perf_counter() - started
        found = {"reports": out, "count": reports, "claim": plain, "lifetime": as_floats(lifetime), "seconds": seconds}
        print_json(found)
        return
    click.echo(f"Reports: {out} ({reports:,})")
    click.echo(f"Method:  {chosen.method}")
    each = f"{promised(claim)} for each report{beside(lifetime)}"
    words = f"{each}, between any two values of its owner"
    click.echo(f"Promise: {promise(chosen.mechanism) if loaded.release.kind == 'spatial' else words}")
    hint("a simulation: on real devices the values never leave them", quiet=quiet)
    click.echo(f"Next:    dpress estimate {spec} --reports {out} --out DIR")
