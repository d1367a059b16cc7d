"""Tries several methods on one view."""
