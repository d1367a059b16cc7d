"""Run inside anjana's own environment: seconds to a k-anonymous table by full-domain generalisation, as JSON."""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from anjana.anonymity import k_anonymity

frame = pd.read_parquet(sys.argv[1])
k, percent = int(sys.argv[2]), float(sys.argv[3])
paths = json.loads(Path(sys.argv[4]).read_text())
hierarchies = {
    name: {level: np.array([path[level] for path in column]) for level in range(len(column[0]))}
    for name, column in paths.items()
}
begin = time.perf_counter()
out = k_anonymity(frame, [], list(hierarchies), k, percent, hierarchies)
seconds = time.perf_counter() - begin
smallest = int(out.groupby(list(hierarchies)).size().min()) if len(out) else 0
print(json.dumps({"seconds": seconds, "rows": len(out), "smallest": smallest}))
