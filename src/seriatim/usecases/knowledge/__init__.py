"""Mines sequence knowledge from tables and series, and explains it."""
