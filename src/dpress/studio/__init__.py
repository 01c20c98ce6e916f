"""A page on this computer for people who do not write TOML: it writes the same specification, calls the same functions.

draft (what was typed) -> specifications as TOML -> plan, check, publish, report.
"""
