"""Kernels that measure what an attacker does not know about a number who is content to be near it."""
