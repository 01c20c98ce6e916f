"""Codes and counts as SQL: rows stay in the engine, which hands back cells and how many rows are in each.

attribute, declared type -> an expression (`code_expression`) -> counts (`cell_counts`) or codes (`coded_rows`).
"""
