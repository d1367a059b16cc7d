"""Made-up worlds: generators of tables about people who do not exist."""
