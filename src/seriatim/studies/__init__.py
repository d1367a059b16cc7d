"""Each paper's experiment re-run, and the made-up worlds they run in."""
