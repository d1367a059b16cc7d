"""What an adversary who holds every release concludes."""
