"""One row per key of the policy: shapes, messages, the editor's schema and the reference page are made of these.

The rows of promises and of the options of single methods stand with their promise (``model.promises``) and method
(``model.methods``); all others are here. A package that brings a method brings the rows of its options.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from seriatim.model.number_limits import NumberLimits


class PolicySection(StrEnum):
    """The table of the policy that holds a key."""

    SERIES = "series"
    COLUMNS = "columns"
    HIERARCHY = "hierarchy"
    """A builder: the table form of [columns.NAME] hierarchy."""
    PROMISE = "promise"
    DEFENCE = "defence"
    ADVERSARY = "adversary"
    NOWHERE = "nowhere"
    """Kept whatever the policy says."""


class Form(StrEnum):
    """What a key takes that is neither a number within limits nor one of some words, as messages say it."""

    TEXT = "a text"
    FLAG = "true or false"
    TEXTS = "a list of texts"
    AMOUNTS = 'a table of column = "10" or "10%"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What is known about a key of the policy."""

    key: str
    section: PolicySection = PolicySection.DEFENCE
    limits: NumberLimits | None = None
    """What a number may be."""
    words: tuple[str, ...] = ()
    """Words that it may say; for an option of a method the first is the default."""
    form: Form | None = None
    """What it takes, if neither of these."""
    values: str = ""
    """What messages say of it: after the limits or words, or in place of the form's own words."""
    default: object = None
    summary: str
    """One sentence."""

    @property
    def allowed(self) -> str:
        """Return what the key may say; messages repeat it."""
        if self.limits is not None:
            return f"{self.limits.words}{self.values}"
        if self.words:
            return f"{', '.join(self.words)}{self.values}"
        return self.values or (self.form.value if self.form else "")
