"""Speed as ratios in one run, against peers and against the limit of the machine. Run with ./dev bench NAME."""
