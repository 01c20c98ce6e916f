"""Audits: whether a method's distribution, or its running code, keeps what it claims."""
