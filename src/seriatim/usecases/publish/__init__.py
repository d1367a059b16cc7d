"""Publishes a view, or refuses it with reasons."""
