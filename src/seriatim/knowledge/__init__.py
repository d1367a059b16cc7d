"""What an adversary believes, and how likely they are to succeed."""
