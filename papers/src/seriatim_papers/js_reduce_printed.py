"""JS-reduce as it is printed, attacked as it is printed, with ours beside it: Figures 4 and 8 and the text's figures.

Printed: Algorithm 4 (greedy), the omega estimate, and the product of marginals for the beliefs before the next view
(Algorithms 1 and 3). Ours: the best cut, Bayes, the exact filter. The world is M, whose people remember longer than one
step; the attackers know tables over the last one, two or three values, mined from other people's weeks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise

import numpy as np

from seriatim.knowledge._posterior import BITS
from seriatim.knowledge.sequence_model import SequenceModel
from seriatim.model.policy import Thresholds
from seriatim_papers.claims import Claim, Spread
from seriatim_papers.js_reduce import js_reduce_by_mondrian, js_reduce_by_segments, mean_width
from seriatim_papers.js_reduce_parts import js_reduce_part_corpus, js_reduce_part_query_error, js_reduce_part_snapshot
from seriatim_papers.observers import AS_OURS, AS_PRINTED, Observer, attacked, people_of, published
from seriatim_papers.study_run import KEEPS_NOTHING, StudyRun
from seriatim_papers.worlds.patients import PatientWeek, patients_weeks

SEEDS = (1, 2, 3)
PRINTED, OURS, PLAIN = "JS-reduce as printed", "JS-reduce, ours", "Mondrian l = 2"
KNOWLEDGE = ("snapshot", "1 step", "2 steps", "3 steps", "exact")
ASKED = (
    *((how, kind) for how in (AS_PRINTED, AS_OURS) for kind in KNOWLEDGE),
    *(("sum, product", kind) for kind in ("1 step", "exact")),
)
"""The attacks that are run: the printed sum gains next to nothing, so two kinds of knowledge show it."""
SHARES = (0.01, 0.05, 0.1, 0.2)


@dataclass(frozen=True, slots=True)
class PrintedRun:
    """A world under one method: what each attacker gained by release, and what is lost."""

    gains: Mapping[tuple[str, str], tuple[float, ...]]
    """By attack and knowledge."""
    losses: tuple[float, ...]
    """GCP of the groups, by view."""
    dropped: tuple[int, ...]
    errors: tuple[float, ...]
    """Median error of counts at each share (Figure 8b)."""


@lru_cache(maxsize=1)
def _world(n_weeks: int, n_rows: int, seed: int) -> tuple[list[PatientWeek], dict[str, SequenceModel]]:
    weeks, exact = patients_weeks("M", n_weeks, n_rows, seed)
    corpus, _ = patients_weeks("M", n_weeks, n_rows, seed, people_seed=7)
    mined = {f"{n} step{'s' * (n > 1)}": js_reduce_part_corpus(corpus, n) for n in (1, 2, 3)}
    return weeks, {"snapshot": js_reduce_part_snapshot(mined["1 step"]), **mined, "exact": exact}


def printed_run(method: str, n_weeks: int, n_rows: int, seed: int) -> PrintedRun:
    """Publish one world by a method, and attack it with every kind of knowledge in every way."""
    weeks, models = _world(n_weeks, n_rows, seed)
    grouper = {
        PLAIN: js_reduce_by_mondrian(2, Thresholds(l=2)),
        PRINTED: js_reduce_by_segments(20, 0.5, 0.6, False),
        OURS: js_reduce_by_segments(20, 0.5, 0.6 * BITS, True),
    }[method]
    how = AS_PRINTED if method == PRINTED else AS_OURS
    run = published(weeks, grouper, Observer(models["exact"], how, people_of(weeks)))
    return PrintedRun(
        {(how, kind): attacked(run, models[kind], how).gain for how, kind in ASKED},
        run.losses,
        run.dropped,
        tuple(js_reduce_part_query_error(run, share) for share in SHARES),
    )


@dataclass(frozen=True, slots=True, eq=False)
class PrintedFindings:
    """What three worlds showed; every figure keeps one number a seed."""

    n_weeks: int
    n_rows: int
    seeds: tuple[int, ...]
    worlds: tuple[dict[str, PrintedRun], ...]

    def gain(self, method: str, attack: str, kind: str, release: int = -1) -> Spread:
        """Return the gain at one release."""
        return Spread(tuple(world[method].gains[attack, kind][release] for world in self.worlds))

    def curve(self, method: str, attack: str, kind: str) -> tuple[Spread, ...]:
        """Return the gain by release."""
        return tuple(self.gain(method, attack, kind, at) for at in range(self.n_weeks))

    def errors(self, method: str) -> tuple[Spread, ...]:
        """Return the median error of counts at each share (Figure 8b)."""
        return tuple(Spread(tuple(world[method].errors[at] for world in self.worlds)) for at in range(len(SHARES)))

    def dropped(self, method: str) -> tuple[int, ...]:
        """Return the people dropped from every view of every world."""
        return tuple(n for world in self.worlds for n in world[method].dropped)

    def loss(self, method: str) -> Spread:
        """Return the GCP of the groups, without those dropped."""
        return Spread(tuple(mean_width(world[method].losses) for world in self.worlds))

    def claims(self) -> tuple[Claim, ...]:
        """Judge the paper's sentences by what was run."""
        steps = [self.gain(PLAIN, AS_PRINTED, kind) for kind in ("1 step", "2 steps", "3 steps")]
        more = [after.less(before) for before, after in pairwise(steps)]
        curve = np.array([world[PLAIN].gains[AS_PRINTED, "1 step"] for world in self.worlds])
        fall = Spread(tuple((curve.max(axis=1) - curve[:, -1]).tolist()))
        most = Spread(
            tuple(max(max(world[PRINTED].gains[AS_PRINTED, kind]) for kind in KNOWLEDGE) for world in self.worlds)
        )
        open_ = self.gain(PLAIN, AS_PRINTED, "exact")
        out, rows = self.dropped(PRINTED), self.n_rows
        return (
            Claim("3 steps gain more than 2, 2 more than 1 (Fig. 4a)", "3 > 2 > 1",
                  f"{'; '.join(map(str, steps))}; more by {more[0]} and {more[1]}", all(one.low > 0 for one in more)),
            Claim("the curve of 1 step falls (Fig. 4a)", "falls",
                  f"by {fall} from its top to {steps[0]} at the end", fall.low > 0),
            Claim("without JS-reduce the gain is above .5", "> .5", str(open_), open_.low > 0.5),
            Claim("with JS-reduce the gain stays below .12 (Fig. 4c)", "< .12", f"at most {most}", most.high < 0.12),
            Claim("at most 12 tuples of a view are suppressed", "12",
                  f"median {int(np.median(out))}, most {max(out)} of {rows:,}", max(out) <= 12),
        )  # fmt: skip


def printed_findings(
    n_weeks: int, n_rows: int, seeds: tuple[int, ...] = SEEDS, run: StudyRun = KEEPS_NOTHING
) -> PrintedFindings:
    """Run a world for each seed."""
    found = run.parts(
        {
            f"as printed, seed {seed}, {method}": partial(printed_run, method, n_weeks, n_rows, seed)
            for seed in seeds
            for method in (PLAIN, PRINTED, OURS)
        }
    )
    worlds = [
        {method: found[f"as printed, seed {seed}, {method}"] for method in (PLAIN, PRINTED, OURS)} for seed in seeds
    ]
    return PrintedFindings(n_weeks, n_rows, seeds, tuple(worlds))
