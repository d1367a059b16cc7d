"""Notes beside a verdict: what was asked for but not judged, and who was withheld. Silence would look like approval."""

from __future__ import annotations

from seriatim.model import Draft, Policy


def notes_of(draft: Draft, policy: Policy, n_before: int) -> tuple[str, ...]:
    """``n_before`` is how many releases the series already has."""
    known, asked = policy.adversary or {}, policy.terms.further
    found = list(policy.unread)
    looks_back = "m" in asked or known.get("breach_share") is not None
    if n_before and policy.sensitive and not looks_back:
        found.append(
            f"not judged together with the {n_before} earlier releases: set [adversary] breach_share, or promise m"
        )
    needed = {"m": asked.get("m"), "n": asked.get("n"), "lifespan": known.get("lifespan")}
    lacking = [name for name, value in needed.items() if value is None]
    if known.get("breach") is not None and lacking:
        found.append(f"[adversary] breach was not judged: its formula also needs {', '.join(lacking)}")
    unused = [name for name in ("attributes", "value_priors", "sequence") if known.get(name) is not None]
    if unused:
        found.append(f"[adversary] {', '.join(unused)}: recorded, but no attack of this version uses it yet")
    withheld = sum(count for name, count in draft.counters.items() if name.startswith("withheld"))
    if withheld:
        found.append(f"{withheld} people are withheld from this release and tried again in the next")
    return tuple(found)
