"""The heads of ledgers that releases keep: what shows that the end of a ledger was cut off, or an old copy put back.

releases -> the name of the ledger that paid and its head then -> the ledger must still have that line.
"""

import json
from collections.abc import Iterable
from pathlib import Path

import msgspec

from dpress.core.basics.errors import SchemaMismatch
from dpress.query.folder import LARGEST_MANIFEST, MANIFEST, SERIES


class _Payment(msgspec.Struct, frozen=True):
    """What a description states of the ledger that paid."""

    ledger: str | None = None
    ledger_head: str | None = None


def heads_below(folder: str | Path) -> dict[str, str]:
    """Return what `kept_heads` finds, which must be something.

    Raises:
        OSError: there is no such folder, or a description cannot be read.
        SchemaMismatch: a description is damaged.
        ValueError: no release below the folder keeps a head, so that nothing would be checked.
    """
    if not Path(folder).is_dir():
        raise NotADirectoryError(f"{folder} is no folder; name one that holds releases")
    kept = kept_heads(folder)
    if not kept:
        raise ValueError(f"{folder} holds no release that a ledger paid: there is no head to check")
    return kept


def kept_heads(folder: str | Path) -> dict[str, str]:
    """Return the `ledger_head` of every release and series in or below a folder, by the place of its description.

    Those without a ledger have none and are left out.

    Raises:
        OSError: a description cannot be read.
        SchemaMismatch: a description is damaged.
    """
    heads = {str(path): _head(path) for name in (MANIFEST, SERIES) for path in sorted(Path(folder).rglob(name))}
    return {place: head for place, head in heads.items() if head is not None}


def heads_beside(out: str | Path, ledger: str) -> dict[str, str]:
    """Return the heads of one ledger that lie beside a new release, by the place of the description that keeps it.

    Looked at are the releases and series in the same folder, and the series that the folder is of. What cannot be
    read keeps nothing: it may be of another program.

    Args:
        out: the folder that is to be written.
        ledger: the hash of its first line.
    """
    folder = Path(out).absolute().parent
    places = (folder / SERIES, *folder.glob(f"*/{MANIFEST}"), *folder.glob(f"*/{SERIES}"))
    heads = {str(path): payment.ledger_head for path, payment in _payments(places) if payment.ledger == ledger}
    return {place: head for place, head in heads.items() if head}


def _payments(places: Iterable[Path]) -> Iterable[tuple[Path, _Payment]]:
    for path in sorted(places):
        try:
            if path.stat().st_size <= LARGEST_MANIFEST:
                yield path, msgspec.json.decode(path.read_bytes(), type=_Payment)
        except (OSError, msgspec.MsgspecError, RecursionError):
            continue


def _head(path: Path) -> str | None:
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        head = fields.get("ledger_head") if path.name == SERIES else fields["ledger_head"]
    except (ValueError, LookupError, TypeError, RecursionError, AttributeError):
        head = 0
    if head is not None and not isinstance(head, str):
        raise SchemaMismatch(f"{path} is truncated or was edited: it states no `ledger_head`; restore the file")
    return head
