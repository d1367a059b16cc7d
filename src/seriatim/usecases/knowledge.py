"""Mines sequence knowledge, and explains it to a reviewer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.errors import Fault, TableError
from seriatim.knowledge.appearances import appearances_of
from seriatim.knowledge.sequence_mining import ValueCorpus, best_order, mined_sequences
from seriatim.knowledge.sequence_model import Denominators, SequenceModel, Unseen
from seriatim.knowledge.sequential_adversary import true_sequences
from seriatim.knowledge.temporal_privacy import leakage_over_time
from seriatim.knowledge.value_texts import value_texts
from seriatim.model.history import History
from seriatim.model.policy_keys import LARGEST_WORD
from seriatim.model.table_faults import check_header, check_single_cells

Step = Literal["day", "week", "month", "quarter", "year"]
_MOST = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class MiningPlan:
    """How to mine: the columns of a table, and what the model remembers."""

    respondent: str = "respondent"
    time: str = "release"
    value: str = "sensitive"
    cls: str | None = None
    order: int | None = None
    """None: 2 where the pairs allow it, else 1."""
    step: Step | None = None
    """What one step is, if times are dates."""
    unseen: Unseen = "backoff"
    denominators: Denominators = "continued"


@dataclass(frozen=True, slots=True, eq=False)
class ModelAccount:
    """What a model says, for someone who must decide whether an attacker could know it."""

    model: SequenceModel
    epsilons: tuple[float, ...] = ()
    """What differentially private releases spend, of which the account then says what they leak over time."""

    def record(self) -> dict[str, Any]:
        """Return the account as JSON has it; values of the domain, nothing about one person."""
        model, margin = self.model, self.model.margin
        level = model.value_level
        names = value_texts(model.values)
        return {
            "schema": "seriatim.knowledge/1",
            "kind": model.kind,
            "values": len(names),
            "states": model.n_states,
            "classes": list(model.classes),
            "pairs": {str(gap): n for gap, n in sorted(model.n_pairs.items())},
            "tables_for_gaps": sorted(model.steps),
            "stay": float((margin * np.diag(level)).sum()),
            "coupling": model.coupling,
            "entropy": {"margin": _entropy(margin), "next": float((margin * [_entropy(row) for row in level]).sum())},
            "temporal": _temporal(self.model, self.epsilons),
            "steps": [
                {
                    "from": names[a],
                    "share": float(margin[a]),
                    "stay": float(level[a, a]),
                    "to": _likely(level[a], names, a),
                }
                for a in np.argsort(-margin)[:_MOST].tolist()
            ],
        }

    def lines(self) -> list[str]:
        """Return the account in sentences."""
        found = self.record()
        gaps = ", ".join(f"{gap}: {n:,}" for gap, n in found["pairs"].items()) or "none counted"
        head = [
            f"{found['kind']}: {found['values']} values, {found['states']} states, {len(found['classes'])} classes",
            f"pairs of appearances by gap: {gaps}; own tables for gaps {', '.join(map(str, found['tables_for_gaps']))}",
            f"{found['stay']:.1%} keep their value from one step to the next",
            f"the next value takes {found['entropy']['next']:.2f} bits to guess knowing the last one, "
            f"{found['entropy']['margin']:.2f} without",
        ]
        steps = [
            f"  {step['from']} ({step['share']:.1%}): stays {step['stay']:.1%}"
            + "".join(f", {name} {chance:.1%}" for name, chance in step["to"])
            for step in found["steps"]
        ]
        return [*head, *_temporal_lines(found["temporal"]), *steps]


def _temporal(model: SequenceModel, epsilons: tuple[float, ...]) -> dict[str, Any] | None:
    if not epsilons:
        return None
    found = leakage_over_time(model, epsilons)
    limits = [one if np.isfinite(one) else None for one in found.limits]
    return {
        "epsilons": list(epsilons),
        "backward": list(found.backward),
        "forward": list(found.forward),
        "total": list(found.total),
        "limits": dict(zip(("backward", "forward"), limits, strict=True)),
    }


def _temporal_lines(found: dict[str, Any] | None) -> list[str]:
    """Say what releases of one epsilon leak to someone who has this knowledge."""
    if found is None:
        return []
    n, epsilon = len(found["epsilons"]), found["epsilons"][0]
    worst = int(np.argmax(found["total"]))
    ends = [f"{name} {'without end' if one is None else f'up to {one:.3g}'}" for name, one in found["limits"].items()]
    total, backward, forward = (found[name][worst] for name in ("total", "backward", "forward"))
    return [
        f"{n} releases of epsilon {epsilon:g} each leak {total:.3g} about the value at release {worst + 1}: "
        f"{backward:.3g} with the earlier ones (backward), {forward:.3g} with the later ones (forward)",
        f"as releases go on it grows {', '.join(ends)}",
    ]


def account_of_table(table: pa.Table, plan: MiningPlan) -> SequenceModel:
    """Return the model of a long table: a row per appearance, with respondent, time, value and perhaps a class."""
    names = [plan.respondent, plan.time, plan.value, *([plan.cls] if plan.cls else [])]
    check_header("table", table, names)
    missing = [name for name in names if name not in table.column_names]
    if missing:
        allowed = ", ".join(table.column_names)
        raise TableError([Fault(f"column {name!r}", "missing", allowed, "name another") for name in missing])
    check_single_cells("table", table, names)
    if not table.num_rows:
        raise TableError(Fault("table", "no rows", "appearances of people", "mine a longer table"))
    for name in names:
        if table.column(name).null_count:
            raise TableError(Fault(f"column {name!r}", f"{table.column(name).null_count} missing cells", "none"))
    table = table.set_column(table.column_names.index(plan.time), plan.time, _knowledge_times(table, plan))
    who = table.column(plan.respondent)
    if pa.types.is_dictionary(who.type) or pa.types.is_float16(who.type):  # Arrow does not sort them
        table = table.set_column(table.column_names.index(plan.respondent), plan.respondent, who.cast(pa.string()))
    order = pc.sort_indices(table, sort_keys=[(plan.respondent, "ascending"), (plan.time, "ascending")])
    rows = table.take(order)
    people = pc.cast(rows.column(plan.respondent), pa.string()).to_pylist()
    starts = [at for at in range(len(people)) if at == 0 or people[at] != people[at - 1]]
    values = pc.cast(rows.column(plan.value), pa.string()).to_pylist()
    times = rows.column(plan.time).to_pylist()
    ends = [*starts[1:], len(people)]
    kinds = pc.cast(rows.column(plan.cls), pa.string()).to_pylist() if plan.cls else None
    corpus = ValueCorpus.of(
        [values[a:b] for a, b in zip(starts, ends, strict=True)],
        times=[times[a:b] for a, b in zip(starts, ends, strict=True)],
        classes=[kinds[a] for a in starts] if kinds else None,
        values=sorted(set(values)),
    )
    return _mined(corpus, plan)


def _mined(corpus: ValueCorpus, plan: MiningPlan) -> SequenceModel:
    order = best_order(corpus) if plan.order is None else plan.order
    return mined_sequences(corpus, order, plan.unseen, plan.denominators)


def _knowledge_times(table: pa.Table, plan: MiningPlan) -> pa.ChunkedArray:
    """Return when each row is, in whole steps: numbers as they are, dates by ``plan.step``."""
    column = table.column(plan.time)
    if plan.step is not None and plan.step not in get_args(Step):
        raise TableError(Fault("step", "unknown", ", ".join(get_args(Step))))
    if pa.types.is_integer(column.type):
        ends = pc.min_max(column).as_py().values()
        if any(abs(end) > LARGEST_WORD for end in ends):
            raise TableError(Fault(f"column {plan.time!r}", "huge numbers", "years, months or release numbers"))
        return column
    try:
        days = pc.cast(pc.cast(column, pa.date32()), pa.int32())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        days = None
    if days is None or plan.step is None:
        found = "not whole numbers" if days is None else "dates"
        allowed = "years, months or release numbers; or dates"
        raise TableError(Fault(f"column {plan.time!r}", found, allowed, "name the step (step), such as year"))
    dates = pc.cast(days, pa.date32())
    year, month = pc.year(dates), pc.subtract(pc.month(dates), 1)
    return {
        "day": lambda: days,
        "week": lambda: pc.divide(days, 7),
        "month": lambda: pc.add(pc.multiply(year, 12), month),
        "quarter": lambda: pc.add(pc.multiply(year, 4), pc.divide(month, 3)),
        "year": lambda: year,
    }[plan.step]()


def account_of_history(history: History, plan: MiningPlan) -> SequenceModel:
    """Return the model of a series' own releases."""
    if not len(history):
        raise TableError(Fault("series", "no releases", "at least two with the same people"))
    return _mined(true_sequences(appearances_of(history), history), plan)


def _entropy(shares: Any) -> float:
    held = np.asarray(shares)
    held = held[held > 0]
    return float(-(held * np.log2(held)).sum())


def _likely(row: Any, names: list[str], own: int) -> list[tuple[str, float]]:
    """Return the likeliest values to change to."""
    return [(names[b], float(row[b])) for b in np.argsort(-row).tolist() if b != own][:3]
