"""From a view to a release, or to a refusal with its reasons."""
