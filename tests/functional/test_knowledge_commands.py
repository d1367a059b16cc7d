"""seriatim knowledge, and the sequence attack on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.command_line import seriatim

from seriatim import api
from seriatim.knowledge.knowledge_files import read_model


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    rng = np.random.default_rng(4)
    lines = ["id,year,job,school"]
    for person in range(80):
        value = rng.integers(0, 3)
        for year in (1, 2, 4):
            value = value if rng.random() < 0.8 else rng.integers(0, 3)
            lines.append(f"p{person},{year},{'xyz'[value]},{'low' if person % 2 else 'high'}")
    (tmp_path / "corpus.csv").write_text("\n".join(lines))
    return tmp_path


def test_mined_knowledge_is_written_read_and_explained(corpus: Path) -> None:
    words = ("--respondent", "id", "--time", "year", "--value", "job", "--class", "school", "--order", "2")
    ran = seriatim(corpus, "knowledge", "mine", "corpus.csv", *words)
    assert ran.code == 0, ran.err
    assert "keep their value" in ran.out
    shown = seriatim(corpus, "knowledge", "show", "knowledge.toml", "--json")
    found = json.loads(shown.out)
    assert (found["values"], found["classes"]) == (3, ["high", "low"])
    assert 0.6 < found["stay"] < 0.95
    made = api.mine_knowledge_file(
        corpus / "corpus.csv", respondent="id", time="year", value="job", cls="school", order=2
    )
    again = read_model(corpus / "knowledge.toml")
    seen = np.array([[0.2, 0.5, 0.3]])
    one, two = made.model.revise(None, seen), again.revise(None, seen)
    np.testing.assert_allclose(one.beliefs, two.beliefs)
    np.testing.assert_allclose(
        made.model.revise(one.state, seen, gap=2).beliefs, again.revise(two.state, seen, gap=2).beliefs
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("corpus.csv",), "'respondent'"),
        (("corpus.csv", "--respondent", "id", "--time", "job", "--value", "job"), "not whole numbers"),
        (("corpus.csv", "--respondent", "id", "--time", "year", "--value", "job", "--step", "fortnight"), "quarter"),
        ((), "one of them"),
    ],
)
def test_bad_input_is_told_on_one_line(corpus: Path, words: tuple[str, ...], said: str) -> None:
    ran = seriatim(corpus, "knowledge", "mine", *words)
    assert ran.code == 2
    assert said in ran.err
    assert not (corpus / "knowledge.toml").exists()


def test_a_file_that_is_no_knowledge(corpus: Path) -> None:
    (corpus / "other.toml").write_text("a = 1\n")
    ran = seriatim(corpus, "knowledge", "show", "other.toml")
    assert ran.code == 2
    assert "is not a knowledge file" in ran.err


def test_the_attack_follows_people_whose_values_change(corpus: Path) -> None:
    rng = np.random.default_rng(5)
    folder = corpus / "monthly"
    folder.mkdir()
    who = ["release,row,respondent"]
    value = rng.integers(0, 3, 24)
    for month in (1, 2, 3):
        value = np.where(rng.random(24) < 0.8, value, rng.integers(0, 3, 24))
        order = rng.permutation(24)
        rows = [f"{'low' if person % 2 else 'high'}{person % 6},{'xyz'[value[person]]}" for person in order]
        (folder / f"m{month}.csv").write_text("\n".join(["area,job", *rows]))
        who += [f"m{month}.csv,{at + 1},p{person}" for at, person in enumerate(order)]
    (corpus / "who.csv").write_text("\n".join(who))
    ran = seriatim(corpus, "attack", "--history", "monthly", "--respondents", "who.csv", "--sensitive", "job", "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)["sequence"]
    assert found["n_people"] == 24
    assert found["n_changed"] > 0
    assert found["before"] < found["one"]
    (corpus / "attacker.toml").write_text('sequence = "knowledge.toml"\nsure = 0.8\n')
    words = ("--respondent", "id", "--time", "year", "--value", "job")
    assert seriatim(corpus, "knowledge", "mine", "corpus.csv", *words).code == 0
    told = seriatim(
        corpus, "attack", "--history", "monthly", "--respondents", "who.csv", "--sensitive", "job",
        "--adversary", "attacker.toml",
    )  # fmt: skip
    assert told.code == 0, told.err
    assert "belief in the truth" in told.out


def test_dates_are_steps(corpus: Path) -> None:
    """A date is as many months, quarters or years as it is after another; without a step they are refused."""
    lines = (corpus / "corpus.csv").read_text().splitlines()
    months = {"1": "2001-01-31", "2": "2001-04-02", "4": "2001-12-24"}
    dated = [",".join((a, months[b], *rest)) for a, b, *rest in (line.split(",") for line in lines[1:])]
    (corpus / "dated.csv").write_text("\n".join([lines[0], *dated]))
    words = ("dated.csv", "--respondent", "id", "--time", "year", "--value", "job")
    refused = seriatim(corpus, "knowledge", "mine", *words)
    assert refused.code == 2
    assert "name the step (--step), such as year" in refused.err
    for step, gaps in (("month", {"3", "8"}), ("quarter", {"1", "2"})):
        ran = seriatim(corpus, "knowledge", "mine", *words, "--step", step, "--json")
        assert set(json.loads(ran.out)["pairs"]) == gaps


def test_a_file_says_what_was_mined(corpus: Path) -> None:
    words = ("--respondent", "id", "--time", "year", "--value", "job", "--class", "school", "--json")
    mined = json.loads(seriatim(corpus, "knowledge", "mine", "corpus.csv", *words).out)
    shown = json.loads(seriatim(corpus, "knowledge", "show", "knowledge.toml", "--json").out)
    assert shown["stay"] == pytest.approx(mined["stay"], abs=0.01)
    assert shown["entropy"]["margin"] == pytest.approx(mined["entropy"]["margin"], abs=1e-4)
    assert all(step["from"] not in [name for name, _ in step["to"]] for step in shown["steps"])


def test_numbers_are_followed_by_knowledge_that_is_text(corpus: Path) -> None:
    """A sensitive column of numbers: the file's values are text, and must be found nevertheless."""
    import pyarrow as pa

    import seriatim as sr

    (corpus / "numbers.csv").write_text(
        (corpus / "corpus.csv").read_text().replace(",x,", ",1,").replace(",y,", ",2,").replace(",z,", ",3,")
    )
    names = {"respondent": "id", "time": "year", "value": "job"}
    for source, out in (("corpus", "words.toml"), ("numbers", "numbers.toml")):
        api.mine_knowledge_file(corpus / f"{source}.csv", corpus / out, **names)
    rows = {
        "release": [1] * 6 + [2] * 6,
        "respondent": list("abcdef") * 2,
        "group": [0, 0, 0, 1, 1, 1, 0, 1, 0, 1, 0, 1],
    }
    held = [0, 1, 2, 0, 1, 2, 0, 2, 1, 0, 1, 2]
    as_words = sr.History.from_frame(pa.table({**rows, "sensitive": ["xyz"[v] for v in held]}))
    as_numbers = sr.History.from_frame(pa.table({**rows, "sensitive": [v + 1 for v in held]}))
    told = sr.attack(as_words, {"sequence": str(corpus / "words.toml"), "harmless": ["x"], "sure": 0.4}).sequence
    asked = {"sequence": str(corpus / "numbers.toml"), "harmless": ["1"], "sure": 0.4}
    found = sr.attack(as_numbers, asked).sequence
    assert found.sure.n_beliefs > 0
    assert found == told
    with pytest.raises(sr.AdversaryError, match="3 values that the knowledge does not cover"):
        sr.attack(as_numbers, {"sequence": str(corpus / "words.toml")})


def test_priors_and_classes_are_read(corpus: Path) -> None:
    import pyarrow as pa

    import seriatim as sr

    api.mine_knowledge_file(
        corpus / "corpus.csv", corpus / "k.toml", respondent="id", time="year", value="job", cls="school"
    )
    rows = {
        "release": [1] * 6 + [2] * 6,
        "respondent": [f"p{i}" for i in range(6)] * 2,
        "group": [0, 0, 0, 1, 1, 1] * 2,
    }
    history = sr.History.from_frame(pa.table({**rows, "sensitive": list("xyzxyzxzyxyz")}))
    plain = sr.attack(history, {"sequence": str(corpus / "k.toml")}).sequence
    told = {f"p{i}": "low" if i % 2 else "high" for i in range(6)}
    by_class = sr.attack(history, {"sequence": str(corpus / "k.toml"), "classes": told}).sequence
    assert plain.before != by_class.before
    priors = {"x": 0.98, "y": 0.01, "z": 0.01}
    assert sr.attack(history, {"value_priors": priors}).sequence.before == pytest.approx((4 * 0.98 + 8 * 0.01) / 12)
    with pytest.raises(sr.AdversaryError, match="1 classes that the knowledge lacks"):
        sr.attack(history, {"sequence": str(corpus / "k.toml"), "classes": {"p0": "middle"}})
    with pytest.raises(sr.AdversaryError, match="value = chance"):
        sr.attack(history, {"value_priors": {"x": "often"}})
