"""What one device and one collector do with one report: codes to bytes, and bytes to a report that counts.

Device: codes -> report type drawn at random -> payload -> packed report. Intake: packed report -> checked payload.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpress.attributes.coding import codes
from dpress.core.basics.errors import ReportRejected
from dpress.core.basics.losses.pure import PureDP, pure
from dpress.core.basics.rng import Generator, or_secure
from dpress.core.reports.wire import Expected, Report, pack, unpack
from dpress.document.design import Design, collection_id
from dpress.ledger.device_ledger import DeviceLedger, tag
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.protocol.report_type import ReportType, Statement, Table
from dpress.noise.permanent import Secrets, Slot, check_secrets
from dpress.query.designs import collection_of, expected
from dpress.release.devices.user_groups import type_of, user_groups

if TYPE_CHECKING:
    from dpress.data.specification.spec import Spec
    from dpress.release.plan.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What a device may spend in all.

    Args:
        ledger: its own file of charges.
        limit: of all charges together.
    """

    ledger: DeviceLedger
    limit: PureDP


@dataclass(frozen=True, kw_only=True)
class Device:
    """The device side of a collection; `device(design)` makes one.

    Args:
        design: what is asked.
        expected: what a report says of itself.
        collection: the report types and their oracles.
    """

    design: Design
    expected: Expected
    collection: Collection

    def codes(self, values: Mapping[str, Any]) -> tuple[int, ...]:
        """Return the code of every attribute's value.

        Raises:
            SchemaMismatch: a value is missing, or one that the specification rejects or drops (it is not shown).
        """
        return codes(self.design.schema, values)

    def answer(
        self,
        codes: Sequence[int],
        *,
        rng: Generator,
        secret: bytes | None = None,
        account: Account | None = None,
        once: bool = False,
        stated: Statement | None = None,
    ) -> bytes:
        """Return one packed report, charged before it is made where there is an account.

        Args:
            codes: of all attributes, in the specification's order; see `codes`.
            rng: a secure generator.
            secret: 16 to 64 bytes that never leave the device: it fixes the permanent response, and which report type
                is answered at every round.
            account: the device's own ledger and its limit.
            once: for a method with a permanent response or with rounds, that this device has no secret because it
                reports only once.
            stated: what the user states in clear, where the method has such choices: `region_level` and `epsilon` of
                `psda`. The report keeps that epsilon, and the account is charged it.

        Raises:
            BudgetExceeded: the account cannot pay; no report may be sent.
            ValueError: a code is not one of its attribute's (it is not shown), the secret is too short or long, or
                missing where the method keeps a permanent response or has rounds; or an argument has the wrong type.
            NotSupported: the device reports in another round, and sends nothing in this one; or something is stated,
                and the method has no such choices.
        """
        if isinstance(codes, Mapping):
            raise ValueError("expected the codes of the values, as device.codes({...}) returns them, got the values")
        table = self._table(codes)
        rng = or_secure(rng)
        if secret is not None and not isinstance(secret, bytes):
            raise ValueError(f"the secret must be bytes, got {type(secret).__name__}")
        secrets = None if secret is None else np.frombuffer(secret, dtype=np.uint8)[None]
        if secrets is not None:
            check_secrets(secrets, 1)
        number = self._type(rng, secrets, once=once)
        report_type, fresh = self.collection.types[number], rng.words(2).tobytes()
        slot = self.collection.slot(number, self._key)
        if secret is None and not once and any(oracle.lasting for oracle in report_type.oracles):
            raise ValueError(
                f"{self.design.method} keeps a permanent response: pass the device's secret, or once=True for a "
                "device that reports only once"
            )
        if account is not None:
            self._charge(account, report_type, table, secret, fresh, slot=slot, stated=stated)
        payload = report_type.perturb(table, rng=rng, secrets=secrets, slot=slot, stated=stated)
        expected = self.expected
        report = Report(ask=expected.ask, id=fresh, round=expected.round, report_type=number, payload=payload.tobytes())
        return pack(report)

    def _table(self, codes: Sequence[int]) -> Table:
        """Return the codes of one device, shape (attributes, 1)."""
        sizes = self.collection.shape
        if len(codes) != len(sizes):
            raise ValueError(f"expected {len(sizes)} codes, one for every attribute, got {len(codes)}")
        table = np.array(codes)
        names = self.design.schema.names
        for name, code, size in zip(names, table, sizes, strict=False):
            if table.dtype.kind not in "iu" or not 0 <= code < size:
                raise ValueError(f"attribute {name}: expected a code from 0 to {size - 1}, as device.codes returns it")
        return table.astype(np.int32)[:, None]

    @cached_property  # as long to find as the whole rest of an answer takes
    def _key(self) -> bytes:
        """The 16 bytes that name the collection, the same in all its rounds."""
        if (ask := self.design.ask.of_devices) is None:
            raise TypeError("this design asks no devices")
        return collection_id(ask)

    def _type(self, rng: Generator, secrets: Secrets | None, *, once: bool) -> int:
        groups = user_groups(self.design)
        if groups is not None and secrets is None and not once:
            raise ValueError(
                f"{self.design.method} asks every device in one round only, which its secret draws: pass the "
                "device's secret, or once=True for a device that reports in no other round"
            )
        if groups is not None and secrets is not None:
            return type_of(groups, secrets)
        if len(self.collection.types) == 1:
            return 0
        return int(self.collection.drawn(1, rng=rng, secrets=secrets, key=self._key)[0])

    def _charge(
        self,
        account: Account,
        report_type: ReportType,
        codes: Table,
        secret: bytes | None,
        fresh: bytes,
        *,
        slot: Slot,
        stated: Statement | None,
    ) -> None:
        """Charge every part of the answer: a permanent response once for its value, any other for every report."""
        for part in report_type.parts:
            if part.lifetime is not None and secret is not None:
                secrets = np.frombuffer(secret, dtype=np.uint8)[None]
                value = part.answered(codes, self.collection.shape, secrets, slot)
                name = tag(secret, collection=slot.collection, slot=slot.number, value=value)
                account.ledger.charge(slot.number, name, part.lifetime, account.limit)
            else:
                claim = part.oracle.claim if stated is None else part.oracle.claim_stated(stated)
                loss = claim.proven or claim.published
                loss = pure(loss, f"{self.design.method} claims no epsilon that an account could count")
                account.ledger.charge(slot.number, fresh.hex(), loss, account.limit)
            slot = slot.after(len(part.axes))


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """The collector's check of single reports; `intake(design)` makes one.

    It does not know which ids came before: whoever keeps the reports counts an id once.

    Args:
        expected: what a report says of itself.
        collection: the report types and their oracles.
    """

    expected: Expected
    collection: Collection

    def accept(self, packed: bytes) -> Report:
        """Return the report if it can be one of this collection.

        Raises:
            ReportRejected: with the reason.
        """
        if not isinstance(packed, bytes):
            raise ReportRejected(f"a packed report is bytes, got {type(packed).__name__}")
        report = unpack(packed)
        self.expected.check(report)
        payload = np.frombuffer(report.payload, dtype=np.uint8)[None]
        for reason, mask in self.collection.types[report.report_type].faults(payload).items():
            if mask[0]:
                raise ReportRejected(reason)
        return report


def device(asked: "Design | Spec | Plan", *, allow_unproven: bool = False) -> Device:
    """Return the device side of a collection.

    Args:
        asked: its design; or a specification, which is planned on the spot.
        allow_unproven: also where the method's published claim has no proof.

    Raises:
        NotSupported: it is no collection, or its method is unproven.

    >>> import dpress, pyarrow as pa, tempfile
    >>> place = {"name": "place", "kind": "categorical", "values": ["town", "country"]}
    >>> privacy, release = {"model": "local", "epsilon": 2}, {"kind": "histogram"}
    >>> spec = dpress.load_spec({"attribute": [place], "privacy": privacy, "release": release})
    >>> from dpress.core.basics import rng
    >>> len(dpress.device(spec).answer((0,), rng=rng.secure()))
    43
    """
    design = _design(asked)
    collection = collection_of(design, allow_unproven=allow_unproven)
    return Device(design=design, expected=expected(design, collection), collection=collection)


def intake(asked: "Design | Spec | Plan") -> Intake:
    """Return the check of single reports of a collection.

    Args:
        asked: its design; or a specification, which is planned on the spot.

    Raises:
        NotSupported: it is no collection.

    >>> import dpress
    >>> age, local = {"name": "age", "kind": "integer", "bounds": [0, 9]}, {"model": "local", "epsilon": 1}
    >>> spec = dpress.load_spec({"attribute": [age], "privacy": local, "release": {"kind": "histogram"}})
    >>> from dpress.core.basics import rng
    >>> report = dpress.device(spec).answer((4,), rng=rng.secure())
    >>> intake(spec).accept(report).report_type
    0
    """
    design = _design(asked)
    collection = collection_of(design, allow_unproven=True)
    return Intake(expected=expected(design, collection), collection=collection)


def _design(design: "Design | Spec | Plan") -> Design:
    if isinstance(design, (str, Path, Mapping)):
        raise ValueError(
            "expected a design, as dpress.load_design('app.json') reads it from a file, or a Spec, as "
            f"dpress.load_spec(...) does; got {type(design).__name__}"
        )
    if design.design is not None:
        return design.design
    from dpress.release.plan.plan import design_of  # noqa: PLC0415  # a device has a design, and needs no planner

    return design_of(design)
