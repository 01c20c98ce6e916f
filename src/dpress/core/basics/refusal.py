"""What may be shown of an error: our own refusals speak for themselves, anything else may quote the rows."""

import logging
import traceback

from dpress.core.basics.errors import BudgetExceeded

LOG = "dpress.traceback"
LOADING = "the installation is not whole, or LD_LIBRARY_PATH leads to the libraries of another program, as inside R"


def show_tracebacks() -> None:
    """Show on standard error the traceback of every error from now on; messages in it may quote rows."""
    log = logging.getLogger(LOG)
    log.handlers = [logging.StreamHandler()]
    log.setLevel(logging.DEBUG)


logging.getLogger(LOG).propagate = False


class LeftBehind(str):
    """A note of ours on a failure, of what it leaves behind; other notes may quote the rows."""

    __slots__ = ()


def one_line(error: Exception) -> str:
    """Return the line that says why something was refused, or that it failed, and what that leaves behind.

    A message is shown where code of ours raised it; of the rest, which may hold values of the data, only the
    place, and which module could not be loaded. The traceback goes to the log LOG, which shows it on request alone.
    """
    logging.getLogger(LOG).debug("traceback, which may quote rows:", exc_info=error)
    notes = (note for note in getattr(error, "__notes__", ()) if isinstance(note, LeftBehind))
    return "; ".join([_reason(error), *notes])


def _reason(error: Exception) -> str:
    if isinstance(error, BudgetExceeded):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory for this"
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
    frames = [(frame.f_globals.get("__name__", ""), line) for frame, line in traceback.walk_tb(error.__traceback__)]
    ours = [name.partition(".")[0] == "dpress" for name, _ in frames]
    if isinstance(error, ValueError) and ours and ours[-1]:
        return str(error)
    place = next((place for place, ours in zip(reversed(frames), reversed(ours), strict=True) if ours), None)
    where = f" at {place[0]}:{place[1]}" if place else ""
    if isinstance(error, ImportError) and error.name:
        return f"the module {error.name} cannot be loaded{where}: {LOADING}"
    return f"internal error: {type(error).__name__}{where} (its message is withheld: it may quote the data)"
