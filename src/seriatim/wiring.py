"""The only file that picks concrete adapters."""
