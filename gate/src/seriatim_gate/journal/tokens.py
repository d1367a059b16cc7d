"""Bearer tokens: 256 random bits, shown once when made; the journal keeps their SHA-256 alone."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from seriatim.errors import Fault, InputError
from seriatim.model.names import visible_text
from seriatim.storage.database import Database
from seriatim_gate.journal.chain import checked_rows, write_seal
from seriatim_gate.journal.schema import tokens
from seriatim_gate.ports import ROLES, JournalToken

PREFIX = "seriatim_"


def token_digest(token: str) -> str:
    """Return what the journal keeps of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class TokenBook:
    """Make, rotate, revoke and list the tokens of gates."""

    database: Database
    find: Callable[[Connection, str], int]

    def make_token(
        self, gate: str, role: str, label: str = "", respondents: frozenset[str] | None = None, quota: int | None = None
    ) -> tuple[JournalToken, str]:
        """Return a new token and its secret, which is shown this once."""
        if label:
            visible_text("label", label)
        if role not in ROLES:
            raise InputError(Fault("role", "not a role", ", ".join(ROLES)))
        if respondents is not None and (role != "requester" or not respondents):
            raise InputError(Fault("respondents", "only a requester is bound to people", "one person or more"))
        if quota is not None and quota < 1:
            raise InputError(Fault("quota", "less than 1", "1 or more"))
        secret, now = _new_secret(), time.time_ns() // 1_000_000
        bound = None if respondents is None else json.dumps(sorted(respondents))
        with self.database.writing() as connection:
            number = self.find(connection, gate)
            checked_rows(connection, "tokens", number)
            newest = sa.select(sa.func.max(tokens.c.number)).where(tokens.c.gate == number)
            made = JournalToken(
                number=(connection.execute(newest).scalar() or 0) + 1,
                role=role,
                label=label,
                respondents=respondents,
                quota=quota,
                made_at=now,
            )
            connection.execute(
                tokens.insert().values(
                    gate=number, number=made.number, digest=token_digest(secret), role=role, label=label,
                    respondents=bound, quota=quota, made_at=now,
                )
            )  # fmt: skip
            write_seal(connection, "tokens", number)
        return made, secret

    def rotate_token(self, gate: str, number: int) -> str:
        """Replace a token's secret; what it asked for and its quota stay its own."""
        secret = _new_secret()
        self._change(gate, number, digest=token_digest(secret))
        return secret

    def revoke_token(self, gate: str, number: int) -> None:
        """End a token for good."""
        self._change(gate, number, revoked_at=time.time_ns() // 1_000_000)

    def all(self, gate: str) -> Mapping[str, JournalToken]:
        """Return tokens by the SHA-256 of each, revoked ones too."""
        with self.database.reading() as connection:
            number = self.find(connection, gate)
            found = checked_rows(connection, "tokens", number)
        return {
            row.digest: JournalToken(
                number=row.number, role=row.role, label=row.label,
                respondents=None if row.respondents is None else frozenset(json.loads(row.respondents)),
                quota=row.quota, made_at=row.made_at, revoked_at=row.revoked_at,
            )
            for row in found
        }  # fmt: skip

    def _change(self, gate: str, number: int, **values: str | int) -> None:
        with self.database.writing() as connection:
            owner = self.find(connection, gate)
            checked_rows(connection, "tokens", owner)
            changed = (
                tokens.update()
                .where(tokens.c.gate == owner, tokens.c.number == number, tokens.c.revoked_at.is_(None))
                .values(**values)
            )
            if connection.execute(changed).rowcount != 1:
                raise InputError(Fault("token", "no such token, or it was revoked", "", "seriatim gate token list"))
            write_seal(connection, "tokens", owner)


def _new_secret() -> str:
    return PREFIX + secrets.token_urlsafe(32)
