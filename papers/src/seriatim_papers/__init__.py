"""Each paper's experiment repeated, and the made-up worlds it runs in."""
