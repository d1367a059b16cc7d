"""Techniques on one map: what an attacker still learns about a sensitive column, against what users lose.

Every technique is tried with several parameters on the same view: each grouping defence, a sample, noise, and answering
only queries of a size. Risk is one figure for all of them, from what the attacker believes about each person: how often
the best guess comes near (``hit_chance``), how much of the area below H(eps) is gone (``area``), how far belief moved
(``leakage``), or the largest relative gain of a value (``gain``); the mean over people. Cost is what users lose:
``loss`` of detail, the ``query_error`` of counts, the error of ``statistics``, their own if they bring any, or what a
classifier and a regression (``models``) lose that learn from it.
Nothing is published or recorded; the same view, policy and seed give the same map.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from seriatim.defences import defence_named
from seriatim.errors import Fault, InputError, PolicyError
from seriatim.measures.equivocation_rows import equivocations
from seriatim.measures.information_loss import penalty_by_column
from seriatim.measures.query_error import query_error
from seriatim.model import CodedColumn, DefenceSettings, Draft, Policy, SeriesState, View
from seriatim.model.chance import open_chance
from seriatim.model.doors import limited_argument
from seriatim.model.methods import installed_rows, names_where
from seriatim.model.nearness import has_distances, positions_or_nan, usual_window, window_of, window_reach
from seriatim.model.noise_bell import SPREAD, amounts_of
from seriatim.model.policy import DefenceOptions
from seriatim.model.policy_keys import ARGUMENT_LIMITS
from seriatim.model.scale import FloatArray
from seriatim.ports import Workers, no_progress
from seriatim.ports.parts import Progress
from seriatim.queries.query_kinds import LongArray
from seriatim.usecases.compare import map_statistics
from seriatim.usecases.compare.map_beliefs import MapBeliefs
from seriatim.usecases.compare.map_statistics import Statistics

RISKS = ("hit_chance", "area", "leakage", "gain")
COSTS = ("statistics", "loss", "query_error", "models")
SIZES = (2, 5, 10, 20, 50)
RATES = (0.05, 0.1, 0.2, 0.5)
AMOUNTS = ("10%", "20%", "50%", "100%", "200%", "400%")
"""The most that noise moves a number; its standard deviation is an eighth of that."""
DAYS = ("7", "30", "90", "180", "365", "730")
"""The same for dates."""
QUERIES = (2, 4, 8, 16, 32)
_ROUNDING = 1e-12
MOST_VALUES = 64
"""Above this many different numbers, areas are over this many bands of them: within .03, and fifty times as fast."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapWish:
    """What the axes of the map show."""

    risk: str = "hit_chance"
    cost: str = "statistics"
    column: str | None = None
    """The sensitive column whose risk is mapped; the first with distances if omitted."""
    near: str | None = None
    """What counts as near for ``hit_chance``; 5 per cent of a number, 15 days of a date if omitted."""
    seed: int = 1
    statistics: Statistics | tuple[str, ...] | None = None
    """The user's own: functions by name, or texts as ``mean:age`` and ``quantile:wage:0.9``."""

    def __post_init__(self) -> None:
        for name, found, allowed in (("risk", self.risk, RISKS), ("cost", self.cost, COSTS)):
            if found not in allowed:
                raise InputError(Fault(name, "unknown", ", ".join(allowed)))
        limited_argument("seed", self.seed, ARGUMENT_LIMITS["seed"], InputError)
        try:
            window_of("0" if self.near is None else self.near)
        except ValueError:
            raise InputError(Fault("near", "not a width", '"5", "5%", "±5", "±5%" or "±5% or 100"')) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedTechnique:
    """One technique with one parameter."""

    technique: str
    parameter: str
    risk: float = float("nan")
    worst: float = float("nan")
    """The risk of the person at most risk."""
    cost: float = float("nan")
    of_policy: bool = False
    on_front: bool = False
    why: str = ""
    """Why it cannot be used on this view."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Stage:
    view: View
    policy: Policy
    column: CodedColumn
    beliefs: MapBeliefs
    wish: MapWish
    workers: Workers
    truth: Mapping[str, FloatArray] = field(default_factory=dict)
    statistics: Statistics | None = None


def settled_wish(view: View, wish: MapWish) -> MapWish:
    """Return the wish with the column that is mapped and what counts as near in it."""
    column = _mapped(view, wish.column)
    near = wish.near
    if near is None and has_distances(column.scale):
        near = usual_window(column.scale)
    return replace(wish, column=column.name, near=near)


def _mapped(view: View, name: str | None) -> CodedColumn:
    """Return the sensitive column whose risk is mapped: the one named, else the first with distances, if any."""
    if not view.sensitive:
        raise InputError(Fault("risk", "no sensitive column to map", "at least one", 'give it the role "sensitive"'))
    if name is not None:
        named = [one for one in view.sensitive if one.name == name]
        if not named:
            raise InputError(Fault("column", "not a sensitive column", ", ".join(one.name for one in view.sensitive)))
        return named[0]
    return next((one for one in view.sensitive if has_distances(one.scale)), view.sensitive[0])


def risk_map(
    view: View, policy: Policy, workers: Workers, wish: MapWish, progress: Progress = no_progress
) -> tuple[TriedTechnique, ...]:
    """Return a point for each technique and parameter, with those on the Pareto front marked."""
    column = _mapped(view, wish.column)
    if wish.risk == "area" and not has_distances(column.scale):
        raise InputError(Fault("risk", f"the column {column.name!r} has no distances", "hit_chance, leakage, gain"))
    truth = map_statistics.columns_of_view(view)
    beliefs = MapBeliefs(view, column, wish.seed)
    stage = _Stage(
        view=view,
        policy=policy,
        column=column,
        beliefs=beliefs,
        wish=wish,
        workers=workers,
        truth=truth,
        statistics=_statistics(wish, truth, column.name),
    )
    plans, points = list(_plans(stage)), []
    for done, (technique, parameter, settings, k) in enumerate(plans):
        progress(f"trying {technique} {parameter}", done / len(plans))
        points.append(_point(stage, technique, parameter, settings, k))
    progress("done", 1.0)
    return mark_unbeaten(points)


def _statistics(wish: MapWish, truth: Mapping[str, FloatArray], sensitive: str) -> Statistics | None:
    """Return the statistics whose error is the cost; None for the usual ones."""
    if wish.cost == "models":
        return map_statistics.of_models(truth, sensitive)
    return map_statistics.asked_for(wish.statistics, truth) if isinstance(wish.statistics, tuple) else wish.statistics


Plan = tuple[str, str, DefenceSettings | None, int | None]


def _plans(stage: _Stage) -> Iterator[Plan]:
    """Yield technique, parameter, settings and k; the policy's own point first."""
    own = stage.policy.defence
    if own is not None:
        yield "policy", own.method, own, stage.policy.terms.k
    for name, row in installed_rows().items():
        if not row.serial and not row.needs and "j" not in stage.policy.terms.series.stated:
            for k in SIZES:
                yield name, f"k = {k}", DefenceSettings(name, 1.0), k
    for name in names_where(lambda row: row.needs == "rate"):
        for rate in RATES:
            yield name, f"{rate:.0%}", DefenceSettings(name, options=DefenceOptions(rate=rate)), None
    if stage.column.scale.form == "interval":
        for name in names_where(lambda row: row.needs == "noise"):
            yield from _noise_plans(stage.column, name)
        for size in QUERIES:
            yield "queries", f"Q = {size}", None, None


def _noise_plans(column: CodedColumn, method: str) -> Iterator[Plan]:
    unit = " days" if column.scale.dated else "%"
    for amount in DAYS if column.scale.dated else AMOUNTS:
        options, most = DefenceOptions(noise={column.name: amount}), float(amount.rstrip("%"))
        words = f"at most {most:g}{unit}, spread {SPREAD * most:.2g}{unit}"
        yield method, words, DefenceSettings(method, options=options), None


def _point(
    stage: _Stage, technique: str, parameter: str, settings: DefenceSettings | None, k: int | None
) -> TriedTechnique:
    point = TriedTechnique(technique=technique, parameter=parameter, of_policy=technique == "policy")
    try:
        if settings is None:
            beliefs, weights, rows, told = stage.beliefs.of_queries(int(parameter.removeprefix("Q = ")))
            cost = _cost_of_queries(stage, rows, told, int(parameter.removeprefix("Q = ")))
        else:
            draft = _drafted(stage, settings, k)
            beliefs, weights = stage.beliefs.of_draft(draft, settings)
            cost = _cost(stage, draft, settings)
    except (InputError, PolicyError) as error:
        return replace(point, why=str(error.faults[0]))
    risks = _risks(stage, beliefs)
    mean = float(np.average(risks, weights=weights))
    return replace(point, risk=_clean(mean), worst=_clean(float(risks.max())), cost=_clean(cost))


def _clean(figure: float) -> float:
    """Return 0 for what rounding errors leave of it."""
    return figure if not abs(figure) < _ROUNDING else 0.0


def _drafted(stage: _Stage, settings: DefenceSettings, k: int | None) -> Draft:
    secret = open_chance(stage.wish.seed, "map").bytes(32)
    policy = replace(stage.policy, defence=settings, terms=replace(stage.policy.terms, k=k))
    return defence_named(settings.method)(stage.view, policy, SeriesState("map", secret=secret), stage.workers)


def _cost(stage: _Stage, draft: Draft, settings: DefenceSettings) -> float:
    if stage.wish.cost == "loss":
        per_column = penalty_by_column(draft)
        lost = float(np.mean(list(per_column.values()))) if per_column else draft.suppressed_share
        return min(lost + _lost_to_noise(stage, settings), 1.0)
    if stage.wish.cost == "query_error":
        rate = 1.0 if settings.rate is None else settings.rate
        errors = query_error(stage.view, draft, stage.workers, stage.wish.seed, rate)
        return float(errors[1].value) if len(errors) > 1 else float("nan")
    told = map_statistics.columns_of_draft(stage.view, draft)
    return map_statistics.mean_error(stage.truth, told, stage.column.name, stage.statistics)


def _lost_to_noise(stage: _Stage, settings: DefenceSettings) -> float:
    """Return how wide the noise of the mapped column is, two standard deviations, against its usual width."""
    amount = settings.noise.get(stage.column.name)
    if amount is None or stage.column.scale.form != "interval":
        return 0.0
    numbers = positions_or_nan(stage.column.scale)[stage.column.codes[~stage.view.suppressed]]
    numbers = numbers[np.isfinite(numbers)]
    width = float(np.diff(np.quantile(numbers, (0.01, 0.99)))[0]) if len(numbers) else 0.0
    return float(np.minimum(2 * SPREAD * amounts_of(numbers, amount) / width, 1.0).mean()) if width else 0.0


def _cost_of_queries(stage: _Stage, rows: LongArray, told: FloatArray, size: int) -> float:
    """Return what a user loses who knows means of half a query's records only."""
    if stage.wish.cost == "query_error":
        found = "query_error needs counts of people; answered queries are sums"
        raise InputError(Fault("cost", found, "statistics, loss, models"))
    if stage.wish.cost == "loss":
        return 1.0 - 2.0 / size
    place = np.cumsum(~stage.view.suppressed) - 1
    told = told - map_statistics.counted_from(stage.column.scale)
    known = {name: column[place[rows]] for name, column in stage.truth.items()} | {stage.column.name: told}
    return map_statistics.mean_error(stage.truth, known, stage.column.name, stage.statistics)


def _risks(stage: _Stage, beliefs: FloatArray) -> FloatArray:
    """Return the risk of each row of beliefs."""
    prior, scale = stage.beliefs.prior, stage.column.scale
    if stage.wish.risk == "hit_chance":
        from seriatim.kernels.equivocation import window_hit_chances

        near = window_of(stage.wish.near or usual_window(scale)) if has_distances(scale) else None
        reach = window_reach(scale, near) if near else np.arange(len(scale), dtype=np.int64)
        return np.asarray(window_hit_chances(np.ascontiguousarray(beliefs), reach))
    if stage.wish.risk == "leakage":
        return np.asarray(np.linalg.norm(beliefs - prior, axis=1))
    if stage.wish.risk == "gain":
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.nan_to_num((beliefs - prior) / prior).max(axis=1))
    domain = positions_or_nan(scale)
    known = np.isfinite(domain)
    rows = np.vstack((prior, beliefs))[:, known]
    held = rows.sum(axis=1) > 0  # where a number is missing for sure, nothing is left to learn
    domain, numbers = _banded(domain[known], rows[held] / rows[held].sum(axis=1, keepdims=True))
    areas = np.zeros(len(rows))
    areas[held] = equivocations(domain, numbers, workers=stage.workers).area
    return np.asarray(1.0 - areas[1:] / areas[0]) if areas[0] > 0 else np.ones(len(beliefs))


def _banded(domain: FloatArray, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return bands of neighbouring numbers, each at the population's mean in it; the first row is the population."""
    if len(domain) <= MOST_VALUES:
        return domain, rows
    firsts = np.linspace(0, len(domain), MOST_VALUES, endpoint=False).astype(np.int64)
    together = np.add.reduceat(rows, firsts, axis=1)
    mean = np.add.reduceat(rows[0] * domain, firsts) / np.maximum(together[0], 1e-300)
    return np.where(together[0] > 0, mean, domain[firsts]), together


def mark_unbeaten(points: list[TriedTechnique]) -> tuple[TriedTechnique, ...]:
    """Mark the points that no other one beats in both risk and cost: the Pareto front."""
    usable = [p for p in points if np.isfinite(p.risk) and np.isfinite(p.cost)]

    def beaten(point: TriedTechnique) -> bool:
        return any(
            other.risk <= point.risk
            and other.cost <= point.cost
            and (other.risk < point.risk or other.cost < point.cost)
            for other in usable
        )

    return tuple(replace(point, on_front=point in usable and not beaten(point)) for point in points)
