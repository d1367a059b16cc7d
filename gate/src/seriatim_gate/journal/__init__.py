"""Keeps the decisions of gates in SQL: SQLite by default, or PostgreSQL."""
