"""Promises about a series: they judge a draft as the newest release of its history."""
