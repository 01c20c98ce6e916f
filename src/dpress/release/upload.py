"""What a collector accepts of an upload: many reports at once, each refused with its reason or kept as it came."""

from dataclasses import dataclass

import numpy as np

from dpress.core.packed import TYPE, faults, parse
from dpress.release.device import Intake


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """An upload, sorted.

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
    sound, reasons = np.ones(len(reports), dtype=np.bool_), np.zeros(len(reports), dtype=object)
    for reason, wrong in faults(reports, intake.expected).items():
        reasons[sound & wrong] = reason
        sound &= ~wrong
    for number in np.unique(reports.column(TYPE)[sound]).tolist():
        own = np.flatnonzero(sound & (reports.column(TYPE) == number))
        chosen = np.zeros(len(reports), dtype=np.bool_)
        chosen[own] = True
        payloads = reports.payloads(chosen, intake.expected.widths[number])
        for reason, wrong in intake.collection.types[number].faults(payloads).items():
            first = own[wrong & sound[own]]
            reasons[first] = reason
            sound[first] = False
    refused = tuple((bytes(reports.ids[one]), reasons[one]) for one in np.flatnonzero(~sound))
    return Checked(accepted=reports.only(sound), reports=int(sound.sum()), refused=refused)
