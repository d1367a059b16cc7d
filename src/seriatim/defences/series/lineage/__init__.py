"""Closed lineages: nobody ever changes group."""
