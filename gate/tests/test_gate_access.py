"""Tokens of a running service: revoked ones end, whatever went wrong before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from seriatim_gate.journal.tokens import token_digest
from seriatim_gate.ports import Journal, JournalToken
from seriatim_gate.web.access import Access


class _Tokens:
    def __init__(self) -> None:
        self.found: Mapping[str, JournalToken] | Exception = {token_digest("s"): _token(None)}

    def tokens(self, _: str) -> Mapping[str, JournalToken]:
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


def _token(revoked_at: int | None) -> JournalToken:
    return JournalToken(
        number=1, role="requester", label="", respondents=None, quota=None, made_at=0, revoked_at=revoked_at
    )


def test_tokens_are_read_again_after_any_failure() -> None:
    journal = _Tokens()
    access = Access(cast(Journal, cast(Any, journal)), "gate", 100.0)
    access.read_tokens()
    assert access.token_of("Bearer s") is not None
    for failure in (OSError("disk"), ValueError("not JSON")):
        journal.found = failure
        access.read_tokens()
        assert access.token_of("Bearer s") is not None
    journal.found = {token_digest("s"): _token(5)}
    access.read_tokens()
    assert access.token_of("Bearer s") is None


def test_a_token_may_send_its_rate_and_two_seconds_saved_up() -> None:
    access = Access(cast(Journal, cast(Any, _Tokens())), "gate", 2.0)
    assert [access.within_rate(_token(None)) for _ in range(7)] == [True] * 5 + [False] * 2
