"""``python -m seriatim`` is ``seriatim``."""

from seriatim.cli import program

program()
