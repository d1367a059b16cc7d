"""How long a series stays safe if people go on coming and leaving."""
