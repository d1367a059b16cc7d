"""A policy file becomes a Policy; what is wrong with it is said all at once, each at its place."""

import re
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from seriatim.defences.single.lattice.nodes import LossKind
from seriatim.errors import PolicyError
from seriatim.model.adversary import Adversary
from seriatim.model.methods import installed_rows
from seriatim.model.policy import Kind, Missing, Policy, Role, Unseen
from seriatim.policies import load_policy, policy_from_dict

WARD = """\
[series]
name = "ward-visits"
respondent = "patient"

[columns.age]
role = "quasi"
kind = "number"
hierarchy = { interval = [5, 10, 20] }
[columns.zip]
role = "quasi"
hierarchy = "zip.csv"
missing = "value"
on_unseen = "top"
[columns.disease]
role = "sensitive"
[columns.salary]
role = "sensitive"
kind = "number"
unit = "EUR"
[columns.ward]
role = "plain"

[promise]
k = 5
l = 3
t = 0.2
[promise.salary]
l = 2.5
l_kind = "entropy"
t_distance = "ordered"
beta = 1

[defence]
method = "median"
suppress = 0.05
mode = "strict"
form = "intervals"

[adversary]
compromised = 0.04
breach_share = 0.01
"""


def written(folder: Path, text: str, name: str = "policy.toml") -> Path:
    (folder / "zip.csv").write_text("12345;123**;*\n12399;123**;*\n")
    path = folder / name
    path.write_text(dedent(text), encoding="utf-8")
    return path


def faults_of(folder: Path, text: str) -> list[str]:
    path = written(folder, text)
    with pytest.raises(PolicyError) as caught:
        load_policy(path)
    return [str(fault).replace(str(folder) + "/", "") for fault in caught.value.faults]


def small(**sections: Any) -> dict[str, Any]:
    """A policy that is right, with sections replaced."""
    base: dict[str, Any] = {
        "series": {"name": "s", "respondent": "id"},
        "columns": {"a": {"role": "quasi"}, "d": {"role": "sensitive"}},
    }
    return {**base, **sections}


def the_fault(**sections: Any) -> str:
    with pytest.raises(PolicyError) as caught:
        policy_from_dict(small(**sections))
    assert len(caught.value.faults) == 1, caught.value.faults
    message = str(caught.value)
    assert re.match(r"policy: (unknown key )?(\[|extra)", message), "a key is named in one way, [section] key"
    assert not re.search(r"\b(series|columns|promise|defence|adversary)\.\w[^]]*$", message.split(";")[0])
    return message


def test_a_whole_policy(tmp_path: Path) -> None:
    policy = load_policy(written(tmp_path, WARD))
    assert (policy.series, policy.respondent, policy.epoch) == ("ward-visits", "patient", 1)
    assert [rule.name for rule in policy.quasi] == ["age", "zip"]
    age, code = policy.columns["age"], policy.columns["zip"]
    assert (age.role, age.kind, age.missing, age.on_unseen) == (Role.QUASI, Kind.NUMBER, Missing.ERROR, Unseen.ERROR)
    assert age.hierarchy is not None
    assert age.hierarchy.paths(["23"]) == [("[20,24]", "[20,29]", "[20,39]", "*")]
    assert code.hierarchy is not None
    assert (code.missing, code.on_unseen) == (Missing.VALUE, Unseen.TOP)
    assert code.hierarchy.paths(["12399", "99999"]) == [("123**", "*"), None]
    assert policy.columns["salary"].unit == "EUR"
    disease, salary = policy.terms.per_column["disease"], policy.terms.per_column["salary"]
    assert policy.terms.k == 5
    assert (disease.l, disease.l_kind, disease.t, disease.t_distance) == (3, "distinct", 0.2, "equal")
    assert (salary.l, salary.l_kind, salary.t, salary.t_distance) == (2.5, "entropy", 0.2, "ordered")
    assert salary.beyond_l_and_t == {"beta": 1}
    assert policy.defence is not None
    assert (policy.defence.method, policy.defence.suppress, policy.defence.mode) == ("median", 0.05, "strict")
    assert (policy.defence.form, policy.defence.options.stated) == ("intervals", {})
    assert policy.adversary == Adversary(compromised=0.04, breach_share=0.01)


def test_roles_alone_are_enough() -> None:
    policy = policy_from_dict(small())
    assert policy.defence is None
    assert policy.adversary == Adversary()
    assert policy.terms.k is None
    assert policy.terms.per_column["d"].l is None


def test_every_fault_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    found = faults_of(
        tmp_path,
        """\
        [series]
        nam = "x"
        [columns.age]
        role = "quassi"
        hierarchy = { intervall = [5] }
        [columns."c d"]
        kind = "number"
        [promise]
        k = true
        l = nan
        [defence]
        method = "median"
        suppress = 1.5
        [promis]
        """,
    )
    assert [line.split(": ")[0] for line in found] == [
        "policy.toml:1:2",
        "policy.toml:2:1",
        "policy.toml:4:1",
        "policy.toml:5:15",
        "policy.toml:6:10",
        "policy.toml:9:1",
        "policy.toml:10:1",
        "policy.toml:13:1",
        "policy.toml:14:2",
    ]
    assert "did you mean name?" in found[1]
    assert found[2] == (
        'policy.toml:4:1: [columns.age] role is "quassi"; '
        "allowed: quasi, sensitive, plain, weight, drop; did you mean quasi?"
    )
    assert "did you mean interval?" in found[3]
    assert '[columns."c d"] role is missing' in found[4]
    assert "did you mean promise?" in found[8]


def test_a_mapping_names_the_key() -> None:
    message = the_fault(columns={"a": {"role": "key"}})
    assert message == 'policy: [columns.a] role is "key"; allowed: quasi, sensitive, plain, weight, drop'


@pytest.mark.parametrize(
    ("promise", "words"),
    [
        ({"k": 0}, "[promise] k is 0"),
        ({"k": 2.0}, "[promise] k is 2.0"),
        ({"k": "5"}, '[promise] k is "5"'),
        ({"l": 0.5}, "[promise] l is 0.5"),
        ({"l": 2.5}, "[promise] l is 2.5 with l_kind distinct"),
        ({"l": float("inf")}, "[promise] l is Infinity"),
        ({"l": 2, "l_kind": "recursive"}, "[promise] l_kind is recursive without l_c"),
        ({"l": 2, "l_c": 3}, "[promise] l_c is given with l_kind distinct"),
        ({"l": 2, "l_kind": "recursive", "l_c": 0}, "[promise] l_c is 0"),
        ({"t": 1.1}, "[promise] t is 1.1"),
        ({"t": -0.1}, "[promise] t is -0.1"),
        ({"t": True}, "[promise] t is true"),
        ({"t": 0.1, "t_distance": "hierarchical"}, "[columns.d] has no hierarchy"),
        ({"t": 0.1, "t_distance": "order"}, "did you mean ordered?"),
        ({"alpha_k": 0}, "[promise] alpha_k is 0"),
        ({"beta": -1}, "[promise] beta is -1"),
        ({"value_bounds": {"flu": [0.9, 0.1]}}, "[promise] value_bounds.flu is [0.9, 0.1]"),
        ({"min_entropy_at": {"wide": 1}}, "[promise] min_entropy_at is"),
        ({"n": 2}, "[promise] n is set without m"),
        ({"m": 3, "n": "chose"}, "did you mean choose?"),
        ({"d": {"k": 3}}, "[promise.d] k cannot differ by column"),
        ({"d": {"ll": 3}}, "unknown key [promise.d] ll"),
        ({"a": {"l": 3}}, "[promise.a] is for a column with the role quasi"),
        ({"d2": {"l": 3}}, "did you mean d?"),
        ({"d": 3}, "unknown key [promise] d"),
    ],
)
def test_promises_that_are_refused(promise: dict[str, Any], words: str) -> None:
    assert words in the_fault(promise=promise)


def test_a_promise_about_no_sensitive_column_is_refused() -> None:
    assert "no column is sensitive" in the_fault(columns={"a": {"role": "quasi"}}, promise={"k": 2, "l": 2})


def test_ordered_closeness_needs_an_order() -> None:
    promise = {"t": 0.1, "t_distance": "ordered"}
    assert "a category without order" in the_fault(
        columns={"d": {"role": "sensitive", "kind": "category"}}, promise=promise
    )
    for column in ({"kind": "number"}, {"kind": "date"}, {"order": ["x", "y"]}, {}):
        policy_from_dict(small(columns={"d": {"role": "sensitive", **column}}, promise=promise))


def test_a_sensitive_column_named_like_a_promise() -> None:
    columns = {"k": {"role": "sensitive"}, "value_bounds": {"role": "sensitive"}, "e": {"role": "sensitive"}}
    promise = {"l": 2, "k": {"l": 4}, "value_bounds": {"t": 0.5}}
    terms = policy_from_dict(small(columns=columns, promise=promise)).terms
    assert terms.k is None
    assert (terms.per_column["k"].l, terms.per_column["value_bounds"].t, terms.per_column["e"].l) == (4, 0.5, 2)
    general = policy_from_dict(small(promise={"value_bounds": {"flu": [0, 0.5]}})).terms.per_column["d"]
    assert general.value_bounds == {"flu": [0, 0.5]}


def test_an_override_of_the_kind_drops_the_general_constant() -> None:
    promise = {"l": 3, "l_kind": "recursive", "l_c": 2, "e": {"l_kind": "distinct"}}
    columns = {"d": {"role": "sensitive"}, "e": {"role": "sensitive"}}
    per_column = policy_from_dict(small(columns=columns, promise=promise)).terms.per_column
    assert (per_column["d"].l_c, per_column["e"].l_c) == (2, None)


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ({"series": {"name": "  "}}, '[series] name is "  "'),
        ({"series": {"name": "a\nb"}}, "[series] name is"),
        ({"series": {"name": "s", "epoch": 0}}, "[series] epoch is 0"),
        ({"series": {"name": "s", "epoch": True}}, "[series] epoch is true"),
        ({"series": "s"}, '[series] is "s"'),
        ({"columns": {}}, "no column is declared"),
        ({"columns": {"a": "quasi"}}, '[columns.a] is "quasi"'),
        ({"columns": {"id": {"role": "quasi"}}}, "the column is the respondent"),
        ({"columns": {"a": {"role": "quasi", "kind": "number", "order": ["x"]}}}, "order only for category"),
        ({"columns": {"a": {"role": "quasi", "order": ["x", "y", "x"]}}}, 'lists "x" twice'),
        ({"columns": {"a": {"role": "quasi", "order": []}}}, "[columns.a] order is empty"),
        ({"columns": {"a": {"role": "quasi", "order": ["x", 1.5]}}}, "[columns.a] order[1] is 1.5"),
        ({"columns": {"a": {"role": "quasi", "missing": "none"}}}, "[columns.a] missing"),
        ({"columns": {"a": {"role": "quasi", "hierarchy": 3}}}, "[columns.a] hierarchy is 3"),
        ({"columns": {"a": {"role": "quasi", "hierarchy": {}}}}, "names 0 builders"),
        ({"columns": {"a": {"role": "quasi", "hierarchy": {"interval": [5, 12]}}}}, "multiple of the one before"),
        ({"columns": {"a": {"role": "quasi", "hierarchy": {"interval": []}}}}, "hierarchy.interval is []"),
        ({"columns": {"a": {"role": "quasi", "hierarchy": {"interval": [0]}}}}, "hierarchy.interval[0] is 0"),
        ({"columns": {"a": {"role": "quasi", "hierarchy": {"prefix": [1, 2]}}}}, "fewer characters"),
        ({"columns": {"a": {"role": "quasi", "hierarchy": {"prefix": [1], "origin": 1}}}}, "beside interval only"),
        ({"columns": {"a": {"role": "quasi", "hierarchy": {"group": [2]}}}}, "needs the column's order"),
        ({"columns": {"a": {"role": "quasi", "hierarchy": {"group": [["x"], ["x"]]}}}}, "one group"),
        ({"columns": {"a": {"role": "quasi", "hierarchy": {"groups": [["x"]]}}}}, "it is group now"),
        ({"columns": {"a": {"role": "quasi", "hierarchy": {"date": ["year", "month"]}}}}, "fine to coarse"),
        ({"columns": {"a": {"role": "quasi", "hierarchy": {"date": ["week"]}}}}, "hierarchy.date[0]"),
        (
            {"columns": {"a": {"role": "quasi", "kind": "date", "hierarchy": {"interval": [5]}}}},
            "cannot read the kind date",
        ),
        ({"defence": {}}, "[defence] method is missing"),
        ({"defence": {"method": "median", "suppress": -0.1}}, "[defence] suppress is -0.1"),
        ({"defence": {"method": "median", "mode": "greedy"}}, "strict, relaxed"),
        ({"defence": {"method": "median", "form": "sets"}}, "with method median; allowed: intervals"),
        ({"defence": {"method": "invariant", "leftovers": "wait"}}, "defer, counterfeit, suppress"),
        ({"defence": {"method": "invariant", "when_not_eligible": "defer"}}, "it is leftovers now"),
        ({"defence": {"method": "median", "withhold": "exposed"}}, 'it is leftovers = "withhold" now'),
        ({"promise": {"j_base": "bits"}}, "j is in nats"),
        ({"adversary": {"attributes": ["a"]}}, "nothing ever read it"),
        ({"defence": {"method": "cohort", "lineage_size": 200}}, "it is cohort_size now"),
        ({"defence": {"method": "cohort", "cohort_size": 60}}, "from 180"),
        ({"defence": {"method": "cohort", "relation": ["d"]}}, "names a column that is not quasi"),
        ({"promise": {"m": 3, "common": 2.0}}, "it is odds now"),
        ({"defence": {"method": "historical", "group_cap": 2}}, "remove it: nobody is moved"),
        ({"promise": {"m": 3, "odds": 0.5}}, "from 1 to 5"),
        ({"series": {"name": "s"}, "defence": {"method": "cohort"}}, "no respondent is named"),
        ({"series": {"name": "s"}, "promise": {"m": 3}}, "no respondent is named"),
        ({"adversary": {"compromised": 2}}, "[adversary] compromised is 2"),
        ({"adversary": {"file": "a.toml", "breach": 0.1}}, "unknown key [adversary] breach"),
        ({"adversary": {"value_priors": {"flu": [0.5, float("nan")]}}}, "[adversary] value_priors is"),
        ({"extra": {}}, "unknown key extra"),
    ],
)
def test_sections_that_are_refused(sections: dict[str, Any], words: str) -> None:
    assert words in the_fault(**sections)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("median", ["loss", "sticky", "cohort_size", "relation"]),
        ("lattice", ["mode", "sticky", "cohort_size", "relation"]),
        ("curve", ["mode", "loss", "sticky", "cohort_size", "relation"]),
        ("invariant", ["mode", "loss", "sticky", "cohort_size", "relation"]),
        ("historical", ["loss", "cohort_size", "relation"]),
        ("cohort", ["mode", "loss", "leftovers", "sticky"]),
    ],
)
def test_a_method_is_not_given_what_it_does_not_read(method: str, options: list[str]) -> None:
    every = {
        "mode": "repair" if method == "historical" else "strict",
        "loss": "ncp",
        "leftovers": (installed_rows()[method].words("leftovers") or ("suppress",))[0],
        "sticky": True,
        "cohort_size": 720,
        "relation": ["a"],
    }
    made = policy_from_dict(small(defence={"method": method, **every}))
    assert [note.split()[1] for note in made.unread] == [name for name in every if name in options]
    assert all(note.endswith(f"is not read by method {method}") for note in made.unread)
    heard = {name: value for name, value in every.items() if name not in options}
    assert policy_from_dict(small(defence={"method": method, **heard})).unread == ()


def test_what_no_promise_reads_is_told() -> None:
    cohort = {"promise": {"m": 3, "n": 2}, "defence": {"method": "cohort"}}
    (note,) = policy_from_dict(small(**cohort)).unread
    assert "n is not judged: cohort has no degree" in note
    assert policy_from_dict(small(**{**cohort, "defence": {"method": "historical"}})).unread == ()
    once: dict[str, Any] = {"defence": {"method": "median"}, "adversary": {"lifespan": 12}}
    (note,) = policy_from_dict(small(**once)).unread
    assert "lifespan is not read" in note
    # where a bound asks for it, its absence is told in the verdict; without a defence nothing is judged at all
    assert policy_from_dict(small(**{**once, "adversary": {"lifespan": 12, "breach": 0.1}})).unread == ()
    assert policy_from_dict(small(**{**once, "promise": {"m": 3}})).unread == ()
    assert policy_from_dict(small(adversary={"lifespan": 12})).unread == ()
    assert '[defence] form is "buckets" with method median; that is for method sequence' in the_fault(
        defence={"method": "median", "form": "buckets"}
    )


def test_the_losses_of_the_policy_are_those_of_the_lattice() -> None:
    (loss,) = (option for option in installed_rows()["lattice"].options if option.key == "loss")
    assert list(loss.words) == [str(loss) for loss in LossKind]
    assert "did you mean entropy?" in the_fault(defence={"method": "lattice", "loss": "entropie"})


def test_a_written_bound_on_who_is_left_out_counts_for_a_series() -> None:
    def settings(**further: Any) -> Any:
        return policy_from_dict(small(promise={"m": 2}, defence={"method": "invariant", **further}))

    silent, zero, some = settings(), settings(suppress=0), settings(suppress=0.1)
    assert [made.defence.allowed for made in (silent, zero, some)] == [0.05, 0, 0.1]
    assert len({silent.digest, zero.digest, some.digest}) == 3
    assert settings(leftovers="suppress").defence.allowed == 0
    once = [policy_from_dict(small(defence={"method": "median", **more})) for more in ({}, {"suppress": 0})]
    assert once[0].digest == once[1].digest


def test_the_respondent_may_be_declared_as_dropped() -> None:
    policy = policy_from_dict(small(columns={"id": {"role": "drop"}, "a": {"role": "quasi"}}))
    assert policy.columns["id"].role is Role.DROP


def test_numbers_in_an_order_are_their_texts() -> None:
    policy = policy_from_dict(small(columns={"a": {"role": "quasi", "order": [3, 1, "2"]}}))
    assert policy.columns["a"].order == ("3", "1", "2")
    assert policy.columns["a"].kind is Kind.CATEGORY


def test_long_values_are_shortened_and_stay_on_one_line() -> None:
    message = the_fault(columns={"a": {"role": "x\n" * 500}})
    assert len(message) < 300
    assert "\n" not in message


def test_an_adversary_file_is_read_beside_the_policy(tmp_path: Path) -> None:
    (tmp_path / "adversary.toml").write_text("compromised = 0.1\nlifespan = 3\n")
    path = written(
        tmp_path, '[series]\nname = "s"\n[columns.a]\nrole = "quasi"\n[adversary]\nfile = "adversary.toml"\n'
    )
    inline = policy_from_dict(
        {
            "series": {"name": "s"},
            "columns": {"a": {"role": "quasi"}},
            "adversary": {"compromised": 0.1, "lifespan": 3},
        }
    )
    assert load_policy(path).digest == inline.digest
    (tmp_path / "adversary.toml").write_text("compromised = 0.1\n\nlifespan = 0\n")
    with pytest.raises(PolicyError, match=r"adversary.toml:3:1: lifespan is 0"):
        load_policy(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ":1:1: the file is empty"),
        (b" \n\n", ":1:1: the file is empty"),
        (b"[series]\nname = x\n", ":2:8: not valid TOML"),
        (b'[series]\nname = "\xff"\n', ":2:9: not UTF-8"),
        (b"[series]\nname = [1,", ":2:11: not valid TOML"),
        (b"a = " + b"[" * 100_000, ":1:1: "),
        (b"a = " + b"1" * 10_000, "not valid TOML"),
    ],
)
def test_files_that_are_no_policy(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "policy.toml"
    path.write_bytes(content)
    with pytest.raises(PolicyError) as caught:
        load_policy(path)
    assert words in str(caught.value)
    assert len(caught.value.faults) == 1


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="no such policy file"):
        load_policy(tmp_path / "none.toml")
    with pytest.raises(PolicyError, match="is a folder"):
        load_policy(tmp_path)


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_bytes(b"\xef\xbb\xbf[series]\r\nname = 's'\r\n[columns.a]\r\nrole = 'quasi'\r\n")
    assert load_policy(path).series == "s"


def test_faults_of_a_hierarchy_file_follow_the_key_that_names_it(tmp_path: Path) -> None:
    found = faults_of(
        tmp_path,
        """\
        [series]
        name = "s"
        [columns.a]
        role = "quasi"
        hierarchy = "gone.csv"
        [columns.b]
        role = "?"
        """,
    )
    assert found[0].startswith("policy.toml:5:1: [columns.a] hierarchy")
    assert found[1].startswith("gone.csv: there is no such hierarchy file")
    assert found[2].startswith("policy.toml:7:1: ")


def as_mapping(epoch: int = 1, k: int = 5) -> dict[str, Any]:
    return {
        "promise": {"t": 0.2, "k": k, "l": 3.0, "salary": {"l": 2, "l_kind": "entropy"}},
        "columns": {
            "salary": {"kind": "number", "role": "sensitive"},
            "zip": {"role": "quasi", "hierarchy": "zip.csv", "missing": "error"},
        },
        "series": {"epoch": epoch, "name": "s"},
        "defence": {"method": "median", "suppress": 0},
    }


def test_equal_policies_have_equal_digests(tmp_path: Path) -> None:
    text = """\
    # written in another order
    series = { name = 's' }
    [columns]
    zip = { hierarchy = "zip.csv", role = "quasi" }
    salary.role = "sensitive"
    salary.kind = "number"
    [promise]
    k = 5
    t = 2e-1
    salary.l = 2.0
    salary.l_kind = "entropy"
    l = 3
    [defence]
    method = "median"
    """
    from_file = load_policy(written(tmp_path, text))
    from_dict = policy_from_dict(as_mapping(), tmp_path)
    assert from_file.canonical == from_dict.canonical
    assert from_file.digest == from_dict.digest
    assert len(from_file.digest) == 64


def test_the_epoch_is_no_change_and_everything_else_is(tmp_path: Path) -> None:
    (tmp_path / "zip.csv").write_text("12345;123**;*\n12399;123**;*\n")
    first = policy_from_dict(as_mapping(), tmp_path)
    assert policy_from_dict(as_mapping(epoch=2), tmp_path).digest == first.digest
    assert policy_from_dict(as_mapping(k=6), tmp_path).digest != first.digest
    (tmp_path / "zip.csv").write_text("12345;12***;*\n12399;12***;*\n")
    assert policy_from_dict(as_mapping(), tmp_path).digest != first.digest


def test_a_policy_keeps_nothing_of_the_mapping_it_was_made_from() -> None:
    mapping = small(promise={"value_bounds": {"flu": [0.0, 0.5]}})
    policy: Policy = policy_from_dict(mapping)
    mapping["promise"]["value_bounds"]["flu"][1] = 1.0
    assert policy.terms.per_column["d"].value_bounds["flu"] == [0.0, 0.5]


@pytest.mark.parametrize("mapping", [None, [], {1: {}}, {"columns": {3: {"role": "quasi"}}}])
def test_mappings_that_are_none(mapping: Any) -> None:
    with pytest.raises(PolicyError):
        policy_from_dict(mapping)
