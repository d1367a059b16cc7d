"""Forecasts how long a series stays safe."""
