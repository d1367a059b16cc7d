"""The same view under several methods, side by side."""
