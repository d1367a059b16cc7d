"""Figures without a threshold: leakage, exposure, loss, query error."""
