"""Arrays in, arrays out, compiled by numba. Imports nothing of ours."""
