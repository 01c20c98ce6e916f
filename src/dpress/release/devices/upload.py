"""What a collector accepts of an upload: many reports at once, each refused with its reason or kept as it came."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.core.reports.packed import TYPE, Flags, faults, parse
from dpress.release.devices.device import Intake


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """An upload, sorted into what counts and what does not.

    Args:
        accepted: the reports that count, back to back, each id once.
        reports: how many they are.
        duplicates: how many more would count, had their id not come before in the same upload.
        refused: the id of every other one, as it travelled, and the reason.
    """

    accepted: bytes
    reports: int
    duplicates: int
    refused: tuple[tuple[bytes, str], ...]


def check(intake: Intake, body: bytes) -> Checked:
    """Return which reports of an upload can be of a collection; the same as `Intake.accept` of each.

    It does not know which ids other uploads had: an id is counted once when reports are counted.

    Raises:
        ReportRejected: the body is no reports back to back; nothing of it may be kept.
    """
    reports = parse(body)
    number, reasons = reports.column(TYPE), dict[int, str]()
    sound = np.ones(len(reports), dtype=np.bool_)
    for reason, wrong in faults(reports, intake.expected).items():
        _refuse(wrong, reason, sound, reasons)
    for report_type in np.flatnonzero(np.bincount(number[sound])).tolist():
        of_type = sound & (number == report_type)
        payloads = reports.payloads(of_type, intake.expected.widths[report_type])
        for reason, theirs in intake.collection.types[report_type].faults(payloads).items():
            wrong = np.zeros(len(reports), dtype=np.bool_)
            wrong[of_type] = theirs
            _refuse(wrong, reason, sound, reasons)
    ids = reports.ids  # once: of reports of several lengths it is a copy
    refused = tuple((bytes(ids[place]), reason) for place, reason in sorted(reasons.items()))
    again = _repeated(ids, sound)
    accepted, duplicates = reports.only(sound & ~again), int(again.sum())
    return Checked(accepted=accepted, reports=int(sound.sum()) - duplicates, duplicates=duplicates, refused=refused)


def _repeated(ids: npt.NDArray[np.uint8], sound: Flags) -> Flags:
    """Return which of the sound reports have the id of an earlier one, shape (reports,)."""
    again, places = np.zeros(len(sound), dtype=np.bool_), np.flatnonzero(sound)
    halves = np.ascontiguousarray(ids[places]).view(np.uint64).reshape(-1, 2)
    begins = np.sort(halves[:, 0])
    if (begins[1:] == begins[:-1]).any():  # which ids that differ are of a chance in 2^64
        again[places] = True
        again[places[np.unique(halves, axis=0, return_index=True)[1]]] = False
    return again


def _refuse(wrong: Flags, reason: str, sound: Flags, reasons: dict[int, str]) -> None:
    """Note the first reason of every report that is wrong, in place."""
    if wrong.any():
        reasons.update(dict.fromkeys(np.flatnonzero(wrong & sound).tolist(), reason))
        sound &= ~wrong
