"""Runs every attack of an adversary who has every release."""
