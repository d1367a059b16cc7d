"""Hands a release to further recipients."""
