"""Beliefs about who has which value: messages inside groups, along people's chains, and overlaps of groups."""
