"""Promises about one published table, class by class."""
