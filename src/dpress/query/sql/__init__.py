"""A release asked in SQL: a statement -> keys and numbers -> the queries that `query` answers -> a table."""
