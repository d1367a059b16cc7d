"""What a gate would do with a list of requests: before it serves, side by side, and which pairs need one."""
