"""The plan as a document: the design, and the queries that its error is about."""
