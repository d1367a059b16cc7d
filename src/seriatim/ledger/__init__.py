"""The edge that remembers: catalogue in SQL, bulk in Parquet, everything hash-chained."""
