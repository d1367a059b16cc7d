from seriatim_gate import *  # noqa: F403 - a stub hands on what the package has
