"""Reads and writes tables: CSV, Parquet, Arrow, pandas, polars."""
