"""Publish data about people again and again, and keep the releases safe together."""
