"""Counts and times of requests, for /metrics in the text format of Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)


@dataclass
class Counters:
    """Answers by route and status, and how long they took, in buckets."""

    answers: dict[tuple[str, str, int], int] = field(default_factory=dict)
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0

    def count_answer(self, method: str, route: str, status: int, seconds: float) -> None:
        key = (method, route, status)
        self.answers[key] = self.answers.get(key, 0) + 1
        self.buckets[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds

    def counter_lines(self) -> list[str]:
        """Return the counts as lines of text."""
        lines = ["# TYPE seriatim_gate_answers_total counter"]
        for (method, route, status), n in sorted(self.answers.items()):
            lines.append(f'seriatim_gate_answers_total{{method="{method}",route="{route}",status="{status}"}} {n}')
        lines.append("# TYPE seriatim_gate_answer_seconds histogram")
        total = 0
        for bound, n in zip((*map(str, BOUNDS), "+Inf"), self.buckets, strict=True):
            total += n
            lines.append(f'seriatim_gate_answer_seconds_bucket{{le="{bound}"}} {total}')
        lines += [f"seriatim_gate_answer_seconds_sum {self.seconds:.6f}", f"seriatim_gate_answer_seconds_count {total}"]
        return lines
