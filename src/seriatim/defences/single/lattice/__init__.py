"""Full-domain generalisation: every column at one height of its hierarchy."""
