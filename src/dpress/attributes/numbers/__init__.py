"""Columns of integers and numbers between public bounds."""
