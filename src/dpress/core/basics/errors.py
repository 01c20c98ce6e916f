"""Exceptions a caller can act on; every other refusal is a ValueError that says what would be right."""


class BudgetExceeded(Exception):
    """The ledger cannot pay for what was asked; nothing was charged and no noise was drawn."""


class SchemaMismatch(ValueError):
    """The data, or a release, does not fit the schema it is read with."""


class NoRows(SchemaMismatch):
    """The table has no rows, or none of those that are wanted."""


class ReportRejected(ValueError):
    """A report could not have come from the mechanism that the specification names."""


class NotSupported(ValueError):
    """A combination that no method offers, or a method that runs only when its risk is accepted by name."""
