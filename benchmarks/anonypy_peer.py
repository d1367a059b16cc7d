"""Run by anonypy's own interpreter: k-anonymise the table as its documentation does, print the seconds."""

import json
import sys
import time

import anonypy
import pandas as pd

frame = pd.read_parquet(sys.argv[1])
frame["birth-date"] = pd.to_datetime(frame["birth-date"]).astype("int64") // 86_400_000_000_000
quasi = [name for name in frame.columns if name not in ("disease", "salary-class")]
for name in quasi:
    if frame[name].dtype == object:
        frame[name] = frame[name].astype("category")
begin = time.perf_counter()
anonypy.Preserver(frame, quasi, "disease").anonymize_k_anonymity(k=5)
print(json.dumps({"seconds": time.perf_counter() - begin}))
