"""Cohorts: people who enter together stay together, and leave in fair cells."""
