"""What one device and one collector do with one report: codes to bytes, and bytes to a report that counts.

Device: codes -> question drawn by lot -> payload -> packed report. Intake: packed report -> checked fields and payload.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpress.core.claim import PureDP
from dpress.core.coding import codes
from dpress.core.domain import Schema
from dpress.core.errors import NotSupported, ReportRejected
from dpress.core.rng import Generator
from dpress.core.wire import Expected, Report, pack, unpack
from dpress.data.spec import Spec
from dpress.ledger.device import DeviceLedger, tag
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.protocol.report_type import Longitudinal, Question
from dpress.noise.permanent import Secrets
from dpress.release import rounds
from dpress.release.collect import collection_of, expected
from dpress.release.local_plan import asked_id
from dpress.release.plan import plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What a device may spend in all.

    Args:
        ledger: its own file of charges.
        limit: of all charges together.
    """

    ledger: DeviceLedger
    limit: PureDP


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """The device side of a collection; `device(spec)` makes one.

    Args:
        spec: the specification.
        schema: the attributes whose cells are asked for; of a map both places, on its grid.
        expected: what a report says of itself.
        collection: the questions and their oracles.
    """

    spec: Spec
    schema: Schema
    expected: Expected
    collection: Collection

    def codes(self, values: Mapping[str, Any]) -> tuple[int, ...]:
        """Return the code of every attribute's value.

        Raises:
            SchemaMismatch: a value is missing, or one that the specification rejects or drops (it is not shown).
        """
        return codes(self.schema, values)

    def answer(
        self,
        codes: Sequence[int],
        *,
        rng: Generator,
        secret: bytes | None = None,
        account: Account | None = None,
        once: bool = False,
    ) -> bytes:
        """Return one packed report, charged before it is made where there is an account.

        Args:
            codes: of all attributes, in the specification's order; see `codes`.
            rng: a secure generator.
            secret: 16 to 64 bytes that never leave the device: it fixes the permanent response, and which question is
                answered at every round.
            account: the device's own ledger and its limit.
            once: for a method with a permanent response or with rounds, that this device has no secret because it
                reports only once.

        Raises:
            BudgetExceeded: the account cannot pay; no report may be sent.
            ValueError: a code is not one of its attribute's (it is not shown), the secret is too short or long, or
                missing where the method keeps a permanent response or has rounds; or an argument has the wrong type.
            NotSupported: the device reports in another round, and sends nothing in this one.
        """
        if len(codes) != len(self.collection.shape):
            raise ValueError(f"expected {len(self.collection.shape)} codes, one for every attribute, got {len(codes)}")
        if not isinstance(rng, Generator):
            raise ValueError(f"rng must be a generator of dpress.core.rng, as secure(), got {type(rng).__name__}")
        if secret is not None and not isinstance(secret, bytes):
            raise ValueError(f"the secret must be bytes, got {type(secret).__name__}")
        secrets = None if secret is None else np.frombuffer(secret, dtype=np.uint8)[None]
        number = self._question(rng, secrets, once=once)
        question, fresh = self.collection.questions[number], rng.words(2).tobytes()
        if secret is None and not once and any(isinstance(oracle, Longitudinal) for oracle in question.oracles):
            raise ValueError(
                f"{self.expected.method} keeps a permanent response: pass the device's secret, or once=True for a "
                "device that reports only once"
            )
        if account is not None:
            self._charge(account, question, codes, secret, fresh)
        payload = question.perturb(np.array(codes, dtype=np.int32)[:, None], rng=rng, secrets=secrets)
        own = self.expected
        report = Report(
            spec=own.spec, method=own.method, id=fresh, round=own.round, question=number, payload=payload.tobytes()
        )
        return pack(report)

    def _question(self, rng: Generator, secrets: Secrets | None, *, once: bool) -> int:
        turns = rounds.turns(self.collection, self.spec, self.expected.method)
        if turns is not None and secrets is None and not once:
            raise ValueError(
                f"{self.expected.method} asks every device in one round only, which its secret draws: pass the "
                "device's secret, or once=True for a device that reports in no other round"
            )
        if turns is not None and secrets is not None:
            return rounds.question_of(turns, secrets, rounds.collection_id(self.spec, self.expected.method, turns))
        if len(self.collection.questions) == 1:
            return 0
        return int(self.collection.drawn(1, rng=rng, secrets=secrets, spec=asked_id(self.spec))[0])

    def _charge(
        self, account: Account, question: Question, codes: Sequence[int], secret: bytes | None, fresh: bytes
    ) -> None:
        """Charge every part of the answer: a permanent response once for its value, any other for every report."""
        for oracle, axes in question.parts:
            axis = axes[0]
            if isinstance(oracle, Longitudinal) and secret is not None:
                values = [codes[one] for one in axes]
                value = int(np.ravel_multi_index(values, [self.collection.shape[one] for one in axes]))
                own = tag(secret, spec=asked_id(self.spec), question=axis, value=value)
                account.ledger.charge(axis, own, oracle.lifetime, account.limit)
            else:
                loss = oracle.claim.proven or oracle.claim.published
                if not isinstance(loss, PureDP):
                    raise NotSupported(f"{self.expected.method} claims no epsilon that an account could count")
                account.ledger.charge(axis, fresh.hex(), loss, account.limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """The collector's check of single reports; `intake(spec)` makes one.

    It does not know which ids came before: whoever keeps the reports counts an id once.

    Args:
        expected: what a report says of itself.
        collection: the questions and their oracles.
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
        for reason, mask in self.collection.questions[report.question].faults(payload).items():
            if mask[0]:
                raise ReportRejected(reason)
        return report


def device(spec: Spec, *, allow_unproven: bool = False) -> Device:
    """Return the device side of the collection that a spec describes.

    Raises:
        NotSupported: the spec is no local collection, or its method is unproven.
    """
    planned = plan(spec)
    collection = collection_of(planned, allow_unproven=allow_unproven)
    own = expected(spec, planned.chosen.method, collection)
    return Device(spec=spec, schema=planned.schema, expected=own, collection=collection)


def intake(spec: Spec) -> Intake:
    """Return the check of single reports for the collection that a spec describes.

    Raises:
        NotSupported: the spec is no local collection.
    """
    planned = plan(spec)
    collection = collection_of(planned, allow_unproven=True)
    return Intake(expected=expected(spec, planned.chosen.method, collection), collection=collection)
