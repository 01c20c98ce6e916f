"""Two tables that belong together, as rows of a table: persons with their household, or households with persons."""
