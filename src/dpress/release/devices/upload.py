"""What a collector accepts of an upload: many reports at once, each refused with its reason or kept as it came."""

from dataclasses import dataclass

import numpy as np

from dpress.core.reports.packed import TYPE, Flags, faults, parse
from dpress.release.devices.device import Intake


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """An upload, sorted into what counts and what does not.

    Args:
        accepted: the reports that count, back to back.
        reports: how many they are.
        refused: the id of every other one, as it travelled, and the reason.
    """

    accepted: bytes
    reports: int
    refused: tuple[tuple[bytes, str], ...]


def check(intake: Intake, body: bytes) -> Checked:
    """Return which reports of an upload can be of a collection; the same as `Intake.accept` of each.

    It does not know which ids came before: an id is counted once when reports are counted.

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
    return Checked(accepted=reports.only(sound), reports=len(reports) - len(refused), refused=refused)


def _refuse(wrong: Flags, reason: str, sound: Flags, reasons: dict[int, str]) -> None:
    """Note the first reason of every report that is wrong, in place."""
    if wrong.any():
        reasons.update(dict.fromkeys(np.flatnonzero(wrong & sound).tolist(), reason))
        sound &= ~wrong
