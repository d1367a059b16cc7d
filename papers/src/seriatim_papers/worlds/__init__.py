"""Made-up people: seeded generators of tables that look like real ones."""
