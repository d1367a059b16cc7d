"""The edge where tables come in and go out: CSV, Parquet, Arrow, pandas, polars."""
