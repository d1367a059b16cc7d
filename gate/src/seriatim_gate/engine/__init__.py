"""Decides about single records on demand, while everything released stays unremarkable."""
