"""One module for each thing a steward does: publishing, auditing, attacking, comparing, forecasting."""
