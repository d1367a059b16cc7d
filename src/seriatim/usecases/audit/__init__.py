"""Audits a published table: what it reveals, whoever made it."""
