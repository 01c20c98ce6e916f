"""Plan, collect, publish and check differentially private data.

The functions of the command line, and the objects they take and return. Each loads what it needs on first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpress.core.basics.claim import ROW, Claim, Relation, Unit
    from dpress.core.basics.errors import BudgetExceeded, NotSupported, ReportRejected, SchemaMismatch
    from dpress.core.basics.losses.approximate import ApproxDP
    from dpress.core.basics.losses.pure import PureDP
    from dpress.core.basics.losses.zcdp import ZCDP
    from dpress.data.specification.spec import Spec, load_spec
    from dpress.document.design import Design
    from dpress.ledger.ledger import Ledger
    from dpress.mechanisms.linear.dense_strategy import strategy
    from dpress.query.designs import load_design, save_design
    from dpress.query.load import load_release
    from dpress.query.release import Release
    from dpress.query.result import Result
    from dpress.query.sql.attached import attach
    from dpress.query.sql.of_folder import sql
    from dpress.release.curator.publish import publish
    from dpress.release.devices.device import device, intake
    from dpress.release.devices.estimate import estimate
    from dpress.release.devices.perturb import perturb
    from dpress.release.devices.send_reports import send_reports
    from dpress.release.periods.publish_period import publish_period
    from dpress.release.periods.series import Series, load_series
    from dpress.release.plan.plan import Plan, plan
    from dpress.release.plan.plan_for_error import plan_for_error
    from dpress.release.statements.sql_session import Session
    from dpress.release.truth.data_check import DataCheck, check
    from dpress.release.truth.evaluate import evaluate
    from dpress.reporting.page import write_report as report

_HOMES = {
    "dpress.core.basics.claim": ("ROW", "Claim", "Relation", "Unit"),
    "dpress.core.basics.losses.approximate": ("ApproxDP",),
    "dpress.core.basics.losses.pure": ("PureDP",),
    "dpress.core.basics.losses.zcdp": ("ZCDP",),
    "dpress.document.design": ("Design",),
    "dpress.core.basics.errors": ("BudgetExceeded", "NotSupported", "ReportRejected", "SchemaMismatch"),
    "dpress.data.specification.spec": ("Spec", "load_spec"),
    "dpress.ledger.ledger": ("Ledger",),
    "dpress.mechanisms.linear.dense_strategy": ("strategy",),
    "dpress.release.truth.data_check": ("DataCheck", "check"),
    "dpress.query.designs": ("load_design", "save_design"),
    "dpress.release.devices.device": ("device", "intake"),
    "dpress.release.devices.estimate": ("estimate",),
    "dpress.release.truth.evaluate": ("evaluate",),
    "dpress.query.load": ("load_release",),
    "dpress.release.periods.publish_period": ("publish_period",),
    "dpress.release.periods.series": ("Series", "load_series"),
    "dpress.release.devices.perturb": ("perturb",),
    "dpress.release.devices.send_reports": ("send_reports",),
    "dpress.release.plan.plan": ("Plan", "plan"),
    "dpress.release.plan.plan_for_error": ("plan_for_error",),
    "dpress.release.curator.publish": ("publish",),
    "dpress.query.release": ("Release",),
    "dpress.query.result": ("Result",),
    "dpress.query.sql.of_folder": ("sql",),
    "dpress.query.sql.attached": ("attach",),
    "dpress.release.statements.sql_session": ("Session",),
}
__all__ = [
    "ROW",
    "ZCDP",
    "ApproxDP",
    "BudgetExceeded",
    "Claim",
    "DataCheck",
    "Design",
    "Ledger",
    "NotSupported",
    "Plan",
    "PureDP",
    "Relation",
    "Release",
    "ReportRejected",
    "Result",
    "SchemaMismatch",
    "Series",
    "Session",
    "Spec",
    "Unit",
    "__version__",
    "attach",
    "check",
    "device",
    "estimate",
    "evaluate",
    "intake",
    "load_design",
    "load_release",
    "load_series",
    "load_spec",
    "perturb",
    "plan",
    "plan_for_error",
    "publish",
    "publish_period",
    "report",
    "save_design",
    "send_reports",
    "sql",
    "strategy",
]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("dpress")
    if name == "report":
        return importlib.import_module("dpress.reporting.page").write_report
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(home), name)
    raise AttributeError(f"module 'dpress' has no attribute {name!r}")
