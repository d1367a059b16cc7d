"""Verdicts and releases as HTML and JSON. Never sees a row."""
