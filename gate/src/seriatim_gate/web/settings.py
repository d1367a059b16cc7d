"""How a gate is served."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seriatim.errors import Fault, InputError

DAY = 86_400_000
"""Milliseconds."""
LONGEST = 1_000_000 * DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """``expire`` has no default: somebody must decide how long a request may wait."""

    gate: str
    expire: int
    """Milliseconds after which a waiting request is given up."""
    host: str = "127.0.0.1"
    port: int = 8080
    batch: float = 0.0
    """Seconds between publications; 0 shows a release at once."""
    rate: float = 100.0
    """Requests per second and token."""
    largest_body: int = 16_384
    """Bytes."""
    patience: float = 2.0
    """Seconds to wait for another service to end; a standby waits for ever."""
    head: Path | None = None
    """The file that is told the newest entry."""

    def __post_init__(self) -> None:
        for where, good, allowed in (
            ("expire_days", 0 < self.expire <= LONGEST, f"more than 0, at most {LONGEST // DAY}"),
            ("batch_seconds", self.batch >= 0, "0 or more"),
            ("rate", self.rate > 0, "more than 0"),
            ("port", 0 <= self.port < 65_536, "0 to 65535"),
        ):
            if not good:
                raise InputError(Fault(where, "out of range", allowed))

    @classmethod
    def of(
        cls,
        gate: str,
        expire_days: float,
        host: str = "127.0.0.1",
        port: int = 8080,
        *,
        batch_seconds: float = 0.0,
        rate: float = 100.0,
        standby: bool = False,
        head: Path | None = None,
    ) -> Settings:
        """Return the settings that `seriatim gate serve` makes of its options."""
        patience = float("inf") if standby else 2.0
        expire = round(min(expire_days * DAY, LONGEST + 1)) if expire_days > 0 else 0  # not a number is not above 0
        return cls(
            gate=gate, expire=expire, host=host, port=port, batch=batch_seconds, rate=rate, patience=patience,
            head=head,
        )  # fmt: skip
