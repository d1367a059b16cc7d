"""Ways to make a draft from a view, a policy and the history."""
