"""The desk: Seriatim in a browser, for the people who sign. It does what commands do, and nothing else."""
