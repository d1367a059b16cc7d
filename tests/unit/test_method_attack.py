"""What cuts by values give away to someone who knows the algorithm; and that blind cells give nothing away."""

from __future__ import annotations

import re
import secrets
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from pyarrow import csv
from support.command_line import seriatim
from support.old_cut import OldCut, first_release

import seriatim as sr
from seriatim.attacks import Exclusion, prepare
from seriatim.attacks.method import rebuilt_cuts
from seriatim.attacks.traces_by_person import trace, trace_bit_words, trace_flags
from seriatim.errors import InputError
from seriatim.kernels.deduce.halvings import Halvings, narrow_by_cuts
from seriatim.model.history import History
from seriatim.testing.hospital import hospital_months

ROOT = Path(__file__).parents[2]
SCHOOL = ["Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college"]
SCHOOL += ["Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"]


@cache
def adult(column: str) -> tuple[np.ndarray, np.ndarray]:
    """Where people lie by age, education and sex, and their values; without the 152 people of two rare occupations."""
    path = ROOT.parent / "shared" / "data" / "adult.csv"
    if not path.exists():
        pytest.skip("adult.csv is not here")
    table = csv.read_csv(path, parse_options=csv.ParseOptions(delimiter=";"))
    text = {name: table.column(name).to_pylist() for name in ("education", "sex", column)}
    kept = ~np.isin(text[column], ["Priv-house-serv", "Armed-Forces"])
    columns = [
        table.column("age").to_numpy(),
        np.array([SCHOOL.index(one) for one in text["education"]]),
        np.array(text["sex"]) == "Male",
    ]
    place = np.column_stack([(one - one.min()) / np.ptp(one.astype(int)) for one in map(np.int64, columns)])
    return place[kept].astype(np.float32), np.unique(np.array(text[column])[kept], return_inverse=True)[1]


def attacked(history: History, place: np.ndarray, share: float) -> Exclusion:
    traces = trace(history)
    ground = prepare(history).knowing(rebuilt_cuts(traces, place))
    return ground.compromise(ground.draw(share, 1), keep_log=False)


@pytest.mark.parametrize(
    ("column", "method", "certain", "few"),
    [
        ("occupation", "lineage", 0.12, 0.16),
        ("occupation", "cohort", 0.08, 0.16),
        ("marital-status", "lineage", 0.22, 0.36),
        ("marital-status", "cohort", 0.19, 0.28),
    ],
)
def test_the_old_cut_gave_away_a_share_of_adult(column: str, method: str, certain: float, few: float) -> None:
    place, value = adult(column)
    cells = OldCut.of(method, value, 3, 1.5).cells(place, value)
    found = attacked(first_release(cells, value), place, 0.1)
    assert not found.wrong
    assert not found.conflicts
    assert found.n_breached / found.n_people > certain
    assert (found.sizes[~found.compromised] < 3).mean() > few


def blind_cells(place: np.ndarray, least: int, stay: float, chance: np.random.Generator) -> list[np.ndarray]:
    """Cells cut at the median of the widest column, without a look at values; the others than ``stay`` are dealt."""
    stack, cells = [np.arange(len(place))], []
    while stack:
        ids = stack.pop()
        if len(ids) < 2 * least:
            cells.append(ids)
            continue
        order = ids[np.argsort(place[ids, place[ids].var(axis=0).argmax()], kind="stable")]
        stack += [order[len(ids) // 2 :], order[: len(ids) // 2]]
    dealt = chance.permutation(np.flatnonzero(chance.random(len(place)) >= stay))
    whole = np.concatenate(cells)
    whole[np.isin(whole, dealt)] = dealt
    return np.split(whole, np.cumsum([len(cell) for cell in cells])[:-1])


@pytest.mark.parametrize("stay", [0.05, 0.2, 1.0])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.1, 0.3])
def test_blind_cells_give_nobody_away(stay: float, share: float) -> None:
    place, value = adult("marital-status")
    history = first_release(blind_cells(place, 720, stay, np.random.default_rng(1)), value)
    found = attacked(history, place, share)
    assert not found.n_breached
    assert not found.wrong
    assert (found.sizes[~found.compromised] >= 3).all()


def little(place: list[float], cells: list[list[int]], value: list[int]) -> tuple[History, np.ndarray]:
    history = first_release([np.array(cell) for cell in cells], np.array(value))
    return history, np.array(place, dtype=np.float32)[:, None]


def test_a_known_holder_on_the_right_bounds_a_value_from_above() -> None:
    # values halved at places of their own: 0 lies low, 1 lies high; the left holder of 1 lies at .5 at least
    history, place = little(
        [0.0, 0.1, 0.2, 0.5, 0.3, 0.4, 0.8, 0.9], [[0, 1, 2, 3], [4, 5, 6, 7]], [0, 0, 2, 1, 0, 0, 1, 2]
    )
    told = prepare(history).knowing(rebuilt_cuts(trace(history), place)).compromise(np.array([4], dtype=np.int32))
    # who is left of the cut and above .3, where a holder of 0 went right, does not hold 0
    assert told.candidates[3] == {1, 2}
    assert not told.wrong


def test_counts_alone_bound_a_value() -> None:
    # two of the left four hold 0: the higher of them lies at .1 at least, so nobody on the right below .1 holds it
    spots = [0.0, 0.1, 0.2, 0.3, 0.05, 0.6, 0.7, 0.8]
    history, place = little(spots, [[0, 1, 2, 3], [4, 5, 6, 7]], [0, 0, 1, 2, 3, 0, 0, 2])
    found = attacked(history, place, 0.0)
    assert 0 not in found.candidates[4]
    assert not found.wrong


def test_a_cut_that_the_truth_contradicts_says_nothing() -> None:
    history, place = little([0.9, 0.0, 0.1, 0.8], [[0, 1], [2, 3]], [0, 1, 0, 1])
    assert rebuilt_cuts(trace(history), place) is None


def test_people_about_whom_nobody_knows_are_left_out() -> None:
    place, value = adult("occupation")
    cells = OldCut.of("cohort", value, 3, 1.5).cells(place, value)
    some = place.copy()
    some[np.random.default_rng(3).random(len(some)) < 0.2] = np.nan
    found = attacked(first_release(cells, value), some, 0.1)
    whole = attacked(first_release(cells, value), place, 0.1)
    assert not found.wrong
    assert 0 < found.n_breached < whole.n_breached


def plainly(cuts: Halvings, flags: np.ndarray) -> np.ndarray:
    """One round of ``narrow_by_cuts``, cut by cut, straight from what it says."""
    flags = flags.copy()
    for cut in range(len(cuts.starts) - 1):
        at = slice(cuts.starts[cut], cuts.starts[cut + 1])
        who, spot, right = cuts.who[at], cuts.spot[at].astype(float), cuts.right[at]
        common = trace_flags(cuts.common[cut : cut + 1], flags.shape[1])[0]
        bounds = []
        for side, sign in ((~right, 1.0), (right, -1.0)):
            own, here = flags[who[side]], sign * spot[side]
            alone = own.sum(axis=1) == 1
            may = [own[:, v] & ~alone for v in range(flags.shape[1])] + [own[:, common].any(axis=1)]
            sure = [own[:, v] & alone for v in range(flags.shape[1])] + [may[-1] & ~own[:, ~common].any(axis=1)]
            may[-1] &= ~sure[-1]
            bound = []
            for value, (one, other) in enumerate(zip(sure, may, strict=True)):
                need = cuts.held[2 * cut + (sign < 0), value] - one.sum()
                spots = np.sort(here[other])
                least = [here[one].max(initial=-np.inf)]
                bound.append(max(*least, spots[need - 1] if 0 < need <= len(spots) else -np.inf))
            joint = max([bound[-1], *(bound[v] for v in np.flatnonzero(common))])
            bounds.append([joint if common[v] else bound[v] for v in range(flags.shape[1])])
        for person, place, went in zip(who, spot, right, strict=True):
            own = place if went else -place
            left = flags[person] & ~(own < np.array(bounds[0] if went else bounds[1]))
            if left.any():
                flags[person] = left
    return flags


def test_the_kernel_does_what_the_plain_twin_does() -> None:
    chance = np.random.default_rng(5)
    for _ in range(200):
        n, n_values, n_cuts = chance.integers(4, 14), int(chance.choice([3, 5, 70])), 2
        truth = chance.integers(0, n_values, n)
        flags = chance.random((n, n_values)) < 0.4
        flags[np.arange(n), truth] = True
        order = [np.argsort(spot) for spot in chance.random((n_cuts, n))]
        right = chance.random(n_cuts * n) < 0.5
        who = np.concatenate(order).astype(np.int32)
        common = chance.random((n_cuts, n_values)) < 0.4
        held = np.zeros((2 * n_cuts, n_values + 1), dtype=np.int32)
        for at, one in enumerate(who):
            held[2 * (at // n) + right[at], truth[one]] += 1
        held[:, -1] = [held[row, :-1][common[row // 2]].sum() for row in range(2 * n_cuts)]
        spot = np.sort(chance.integers(0, 6, (n_cuts, n)), axis=1).astype(np.float32).ravel()
        cuts = Halvings(np.arange(n_cuts + 1) * n, who, spot, right, held, trace_bit_words(common))
        words = trace_bit_words(flags)
        moved, _ = narrow_by_cuts(cuts, words)
        wanted = plainly(cuts, flags)
        assert (trace_flags(words, n_values) == wanted).all()
        assert (moved == (wanted != flags).any(axis=1)).all()


SHAPE = {
    "series": {"name": "lineage", "respondent": "patient"},
    "columns": {
        "age": {"role": "quasi", "kind": "number"},
        "sex": {"role": "quasi"},
        "postcode": {"role": "drop"},
        "ward": {"role": "drop"},
        "disease": {"role": "sensitive"},
    },
    "promise": {"m": 3},
    "defence": {"method": "lineage"},
}


def test_attack_says_what_kept_releases_gave_away(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "tests" / "kept" / "cut-by-values", tmp_path / "kept")
    ledger, month = sr.Ledger.open(tmp_path / "kept" / "ledger.db", create=False), hospital_months(2_200, 2)[0]
    unseen = sr.attack(ledger, {"compromised": 0.04}, "lineage")
    assert unseen.method is None
    assert unseen.n_unseen > 1
    found = sr.attack(ledger, {"compromised": 0.04}, "lineage", view=month, policy=sr.Policy.from_dict(SHAPE))
    assert found.iterated.share == 0  # what was promised, and checked
    assert found.method is not None
    assert found.method.n_cuts == 3
    assert found.method.iterated.share > 0.02
    assert not found.wrong
    listed = tmp_path / "exposed.csv"
    sr.attack(ledger, {"compromised": 0.04}, "lineage", view=month, policy=sr.Policy.from_dict(SHAPE), private=listed)
    people = csv.read_csv(listed)
    assert people.num_rows > 0.02 * 2_200
    assert "the method's cuts: in " in people.column("chain")[0].as_py()
    with pytest.raises(InputError, match="without its policy"):
        sr.attack(ledger, series="lineage", view=month)


def test_invariant_halves_value_by_value_and_is_refused_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        secrets, "token_bytes", lambda n=32: bytes(range(n))
    )  # the share breached depends on the secret
    shape = {**SHAPE, "defence": {"method": "invariant"}, "adversary": {"breach_share": 0.01, "compromised": 0.05}}
    (month,) = hospital_months(1_000, 1)
    made = sr.publish(month, sr.Policy.from_dict(shape), sr.Ledger.open(tmp_path / "l.db"))
    assert not made.verdict.released
    (told,) = [one for one in made.verdict.estimates if one.attack == "exclusion"]
    assert told.share > 0.1
    assert told.wrong == 0


def test_the_command_takes_a_view_and_its_policy(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "tests" / "kept" / "cut-by-values", tmp_path / "kept")
    csv.write_csv(hospital_months(2_200, 2)[0], tmp_path / "month.csv")
    columns = "".join(
        f'[columns.{name}]\nrole = "{rule["role"]}"\n' + (f'kind = "{rule["kind"]}"\n' if "kind" in rule else "")
        for name, rule in SHAPE["columns"].items()
    )
    head = '[series]\nname = "lineage"\nrespondent = "patient"\n'
    (tmp_path / "safe.toml").write_text(f'{head}{columns}[promise]\nm = 3\n[defence]\nmethod = "lineage"\n')
    asked = [
        "attack",
        "--ledger",
        "sqlite:///kept/ledger.db",
        "--series",
        "lineage",
        "--adversary",
        "compromised = 0.04",
    ]
    bare = seriatim(tmp_path, *asked)
    assert "give a table that a release was made from (--view) and its policy" in bare.out
    told = seriatim(tmp_path, *asked, "--view", "month.csv", "--policy", "safe.toml")
    assert re.search(r"knowing the algorithm: 3 cuts by values rebuilt; 2\.\d\d% of people breached", told.out)
    assert re.search(
        r"a learnt model guesses \d+\.\d% of 2,000 people right in their groups; the groups alone", told.out
    )
    assert "risk of being in the releases: " in told.out
