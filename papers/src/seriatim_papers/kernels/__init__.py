"""Compiled searches of the methods of papers."""
