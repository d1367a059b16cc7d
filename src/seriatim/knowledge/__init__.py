"""What an adversary can believe or conclude: an input to defences and attacks alike."""
