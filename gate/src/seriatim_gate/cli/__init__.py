"""The commands of `seriatim gate`: parse, call, print."""
