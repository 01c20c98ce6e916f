"""What is kept of a release until it is written, so that one which was stopped is finished: as private as the rows.

design, rows -> a folder beside the release that only its owner reads: the key of the noise, the ticket of its charge ->
the same noise, and no second charge. It is deleted once the release is written.
"""

import hashlib
import json
import os
import shutil
import warnings
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dpress.core.basics import rng as generators
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.rng import Generator
from dpress.data.kept_sums import KeptSums
from dpress.data.sources.open_source import Rows
from dpress.document.design import Design, as_plain, decode, encode, fingerprint
from dpress.ledger.ledger import Ledger
from dpress.query.folder import MANIFEST, remove_half_written

ENDING = ".unfinished"
NOTE, BEGUN, DESIGN, DRAW = "PRIVATE.txt", "begun.json", "design.json", "draw.json"
OTHER_ROWS = "other rows, or files that were moved or written anew"
FLAGS = os.O_CREAT | os.O_WRONLY | os.O_TRUNC | getattr(os, "O_BINARY", 0)  # Windows alone has the last
WORDS = """This folder is private: what it holds can undo the noise of a release, or is exact counts of its rows.

`dpress publish` was stopped before the release was written. Publish it again, from the same rows to the same place:
that goes on with the count, or finishes the release with the same noise and without another charge, and deletes this
folder. Delete it to begin anew; a charge that was made stands. Never copy it, back it up, or give it to anybody.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """A release that is not written yet.

    Args:
        folder: that is kept meanwhile; there may be none yet.
        design: of the release; of one that was begun the one that it was begun with.
        rows: what changes when the rows do, hashed.
    """

    folder: Path
    design: Design
    rows: str

    @property
    def drawing(self) -> bool:
        """Whether noise may have been drawn: the folder holds its key."""
        return (self.folder / DRAW).is_file()

    @property
    def begun(self) -> bool:
        """Whether the folder says of what it is."""
        return (self.folder / BEGUN).is_file()

    def begin(self) -> None:
        """Make the folder, where there is none yet.

        Raises:
            OSError: it cannot be written.
        """
        if not self.begun:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            self.write(NOTE, WORDS.encode())
            self.write(DESIGN, encode(self.design).encode())
            self.write(BEGUN, json.dumps({"rows": self.rows}).encode())

    def sums(self) -> KeptSums:
        """Return what keeps the sums of parts of the rows while they are counted; the folder is made for the first."""

        def write(name: str, content: bytes) -> None:
            self.begin()
            self.write(name, content)

        return KeptSums(folder=self.folder, write=write)

    def write(self, name: str, content: bytes) -> None:
        """Write a file, whole or not at all, for its owner alone."""
        place, partial = self.folder / name, self.folder / f".{name}"
        with os.fdopen(os.open(partial, FLAGS, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(place)

    def draws(self) -> tuple[Generator, str]:
        """Return what draws the noise, the same every time, and the ticket of its charge; both are kept from then on.

        Raises:
            OSError: they cannot be written; nothing was charged or drawn.
            SchemaMismatch: the folder was edited.
        """
        if not self.drawing:
            key, ticket = generators.new_key(), Ledger.ticket()
            try:
                self.begin()
                self.write(DRAW, json.dumps({"key": key.hex(), "ticket": ticket}).encode())
            except OSError as error:
                raise OSError(f"cannot write in {self.folder}: {error.strerror}; nothing was charged") from None
        key, ticket = self._drawn()
        return generators.of_key(key), ticket

    def charged(self, ledger: Ledger | None) -> bool:
        """Return whether a ledger has paid for it."""
        return ledger is not None and self.drawing and ledger.paid(self._drawn()[1]) is not None

    def remove(self) -> None:
        """Delete the folder, and what a process left that was killed while it wrote the release."""
        remove_half_written(self.folder.with_name(self.folder.name.removeprefix(".").removesuffix(ENDING)))
        shutil.rmtree(self.folder, ignore_errors=True)

    def _drawn(self) -> tuple[bytes, str]:
        try:
            kept = json.loads((self.folder / DRAW).read_text(encoding="ascii"))
            return bytes.fromhex(kept["key"]), str(kept["ticket"])
        except (ValueError, KeyError, TypeError) as error:
            raise SchemaMismatch(f"{self.folder / DRAW} was edited ({type(error).__name__}); {_anew(self)}") from None


def place_of(out: str | Path) -> Path:
    """Return the folder that is kept of a release until it is written to `out`."""
    return Path(out).parent / f".{Path(out).name}{ENDING}"


def begun_design(out: str | Path, design: Design) -> Design:
    """Return the design that a release of the same specification was begun with, where it was; else the design.

    A search for a strategy may find another one every time.

    Raises:
        SchemaMismatch: the folder was edited.
    """
    file = place_of(out) / DESIGN
    if not file.is_file():
        return design
    kept = decode(file.read_bytes())
    return kept if kept.specification == design.specification else design


def unfinished(out: str | Path, design: Design, rows: Rows) -> Unfinished | None:
    """Return what is kept of a release until it is written; None where nobody can tell whether its rows change.

    Args:
        out: where it will be.
        design: see `begun_design`.
        rows: that are counted.

    Raises:
        OSError: it was begun with another design or other rows, and noise may have been drawn; or the rows cannot be
            read.
    """
    _sweep(Path(out).parent)
    if (stamp := rows.source.stamp()) is None:
        return None
    release = Unfinished(folder=place_of(out), design=design, rows=_hashed(stamp))
    if release.begun and (difference := _difference(release)):
        if release.drawing:
            raise OSError(f"the release was begun with {difference}, and may have been charged: {_anew(release)}")
        warnings.warn(f"counting was begun with {difference}, and begins anew", stacklevel=2)
        release.remove()
    return release


def _hashed(stamp: Hashable) -> str:
    """Return what changes when the rows do, and not when a file is named from another folder."""
    return hashlib.sha256(repr(_placed(stamp)).encode()).hexdigest()


def _placed(stamp: Hashable) -> Hashable:
    """Return a stamp, or one of several, with the whole path of every file that is there."""
    if isinstance(stamp, tuple):
        return tuple(map(_placed, stamp))
    with suppress(OSError, ValueError):
        return str(Path(stamp).resolve(strict=True)) if isinstance(stamp, str) else stamp
    return stamp


def _difference(release: Unfinished) -> str:
    """Return what is not as it was when a release was begun; empty where all is."""
    try:
        kept = json.loads((release.folder / BEGUN).read_text(encoding="ascii"))
        design = decode((release.folder / DESIGN).read_bytes())
    except (OSError, ValueError):
        return "what cannot be read any more"
    if fingerprint(as_plain(design)) != fingerprint(as_plain(release.design)):
        return "another design"
    return "" if kept == {"rows": release.rows} else OTHER_ROWS


def _anew(release: Unfinished) -> str:
    return f"delete {release.folder} to begin anew, for another charge, or choose another name"


def _sweep(folder: Path) -> None:
    """Delete what was kept of releases that were written: a machine may have stopped right between the two."""
    for kept in folder.glob(f".*{ENDING}"):
        if (folder / kept.name.removesuffix(ENDING).removeprefix(".") / MANIFEST).is_file():
            shutil.rmtree(kept, ignore_errors=True)
