"""The `dpress` command: finds its subcommands by name, and turns every refusal into one line and exit code 1."""

import atexit
import gc
import importlib
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import click

COMMANDS = (
    *("demo", "studio", "init", "list", "error", "audit", "plan", "check", "publish", "perturb", "serve"),
    *("collection", "export", "estimate", "query", "session", "records", "report", "evaluate", "ledger"),
)
SUMMARIES = {
    "demo": "The whole path on built-in data: plan, publish, query, report.",
    "studio": "Describe, plan, check and publish a table on a page of this computer.",
    "init": "Begin a spec: asks about every column of a file.",
    "list": "Every method: family, model, whether auto takes it, claim, paper.",
    "error": "Exact error of a strategy, before any data is read.",
    "audit": "Check what a method claims, exactly or by samples.",
    "plan": "Candidate methods for a spec, with predicted error.",
    "check": "Where every value would be counted (not private).",
    "publish": "Turn a table into a differentially private release.",
    "perturb": "Simulate the devices of a local collection.",
    "serve": "Collect reports from devices over HTTP.",
    "collection": "List, expire or delete what a service collected.",
    "records": "Draw synthetic records from what a release publishes; costs no privacy.",
    "export": "Write the reports that a service collected to a file.",
    "estimate": "Turn reports from devices into a release.",
    "query": "Ask a release, with standard error and interval.",
    "session": "Ask a table in SQL, each statement with its error before it is paid for.",
    "report": "Make the HTML report of a release.",
    "evaluate": "Compare a release with the truth (not private).",
    "ledger": "Show, verify or create a budget ledger.",
}
WITHOUT_MATRICES = {"list"}
PROGRAM = object()  # the process is this program's alone
SELDOM = 10_000  # new objects between two searches for garbage; Python's own 700 cost a tenth of a start


class Commands(click.Group):
    """Loads a command's module only when it is used, so that `--help` needs no numerical library."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of use."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name."""
        if cmd_name not in COMMANDS:
            return None
        if cmd_name in WITHOUT_MATRICES:
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its threads cost as much to start as numpy itself
        command: click.Command = importlib.import_module(f"dpress.cli.{cmd_name}").command
        if ctx.obj is PROGRAM:
            _without_pandas()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the summaries without loading the commands."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(SUMMARIES.items()))


def _methods(ctx: click.Context, parameter: click.Parameter, folders: tuple[str, ...]) -> None:
    """Serve the methods of folders, before any command looks for one."""
    del ctx, parameter
    for folder in folders:
        importlib.import_module("dpress.core.methods.outside").add(Path(folder))


def _debug(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:  # noqa: FBT001  # as click calls it
    """Show tracebacks."""
    del ctx, parameter
    if wanted:
        importlib.import_module("dpress.core.basics.refusal").show_tracebacks()


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--methods",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    metavar="FOLDER",
    expose_value=False,
    callback=_methods,
    help="Also the methods and kinds of a folder's files; may be repeated.",
)
@click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=_debug,
    help="Show the traceback of an error; it may quote rows of the data.",
)
@click.version_option(package_name="dpress")
def cli() -> None:
    """Plan, collect, publish and check differentially private data."""


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line; exits 0 (done), 1 (refused or failed, one line on standard error) or 2 (usage)."""
    _collect_seldom()
    warnings.formatwarning = lambda message, *_: f"note: {message}\n"
    try:
        process = PROGRAM if arguments is None else None
        cli.main(args=arguments, prog_name="dpress", standalone_mode=False, obj=process)
    except click.exceptions.Abort as stop:
        _fail("; ".join(["stopped", *getattr(stop.__cause__, "__notes__", [])]))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:  # noqa: BLE001  # the last place that can keep a data value from the terminal
        from dpress.core.basics.refusal import one_line  # noqa: PLC0415  # keeps the start fast

        _fail(one_line(error))


def _collect_seldom() -> None:
    """Look for garbage less often, and not at the end: what imports make stays, and an end frees all memory anyway."""
    gc.set_threshold(SELDOM)
    atexit.register(_leave_garbage)


def _without_pandas() -> None:
    """Let Arrow find no pandas: it looks once, at the first array, and would import for half a second what is not used.

    Whoever else imports it finds it.
    """
    if "pyarrow" in sys.modules and "pandas" not in sys.modules:
        sys.meta_path.insert(0, _NoPandas)
        try:
            sys.modules["pyarrow"].array([])
        finally:
            sys.meta_path.remove(_NoPandas)


class _NoPandas:
    """Finds everything but pandas."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Refuse the one name, and leave others to whoever finds them."""
        del path, target
        if name == "pandas":
            raise ModuleNotFoundError(name=name)


def _leave_garbage() -> None:
    """Leave garbage where nobody counts it: DuckDB would list on standard error all of its that was not freed."""
    if "duckdb" not in sys.modules:
        gc.freeze()


def _fail(message: str) -> None:
    from dpress.cli.output import refusal  # noqa: PLC0415  # keeps the start fast

    refusal(message)
    sys.exit(1)
