"""Each paper's experiment re-run, and the worlds they run in."""
