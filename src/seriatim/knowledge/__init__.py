"""What an adversary believes, and how likely what they do succeeds."""
