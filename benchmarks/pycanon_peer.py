"""Run inside pycanon's own environment: seconds and figures for the models it knows, as JSON."""

import json
import sys
import time

import pandas as pd
from pycanon import anonymity

frame = pd.read_parquet(sys.argv[1])
quasi, sensitive = sys.argv[2].split(","), [sys.argv[3]]
begin = time.perf_counter()
figures = {
    "k": anonymity.k_anonymity(frame, quasi),
    "alpha": anonymity.alpha_k_anonymity(frame, quasi, sensitive)[0],
    "l": anonymity.l_diversity(frame, quasi, sensitive),
    "entropy_l": anonymity.entropy_l_diversity(frame, quasi, sensitive),
    "c": anonymity.recursive_c_l_diversity(frame, quasi, sensitive)[0],
    "t": anonymity.t_closeness(frame, quasi, sensitive),
    "beta": anonymity.basic_beta_likeness(frame, quasi, sensitive),
    "delta": anonymity.delta_disclosure(frame, quasi, sensitive),
}
print(json.dumps({"seconds": time.perf_counter() - begin, "figures": figures}, default=float))
