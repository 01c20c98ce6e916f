"""Statements of SQL before the budget is spent: compiled into releases of the kinds there are, and published."""
