"""The heads of ledgers that releases keep: what shows that the end of a ledger was cut off."""

import json
from pathlib import Path

from dpress.core.errors import SchemaMismatch
from dpress.release.folder import MANIFEST


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
    """Return the `ledger_head` of every release in or below a folder, by the place of its description.

    Releases without a ledger have none and are left out.

    Raises:
        OSError: a description cannot be read.
        SchemaMismatch: a description is damaged.
    """
    found = {str(path): _head(path) for path in sorted(Path(folder).rglob(MANIFEST))}
    return {place: head for place, head in found.items() if head is not None}


def _head(path: Path) -> str | None:
    try:
        head = json.loads(path.read_text(encoding="utf-8"))["ledger_head"]
    except (ValueError, LookupError, TypeError, RecursionError):
        head = 0
    if head is not None and not isinstance(head, str):
        raise SchemaMismatch(f"{path} is truncated or was edited: it states no `ledger_head`; restore the file")
    return head
