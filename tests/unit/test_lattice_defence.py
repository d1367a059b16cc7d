"""The lattice as a defence: labels of one height per column, losses by name, and a lattice that is too large."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import seriatim as sr
from seriatim.defences.single.lattice import nodes
from seriatim.defences.single.lattice.generalisation import loss_named
from seriatim.defences.single.lattice.nodes import LossKind, all_heights
from seriatim.errors import PolicyError
from seriatim.model import CodedColumn, scale_of


def policy(loss: str | None = None, suppress: float = 0.0) -> sr.Policy:
    defence = {"method": "lattice", "suppress": suppress} | ({} if loss is None else {"loss": loss})
    return sr.Policy.from_dict(
        {
            "series": {"name": "small"},
            "columns": {
                "zip": {"role": "quasi", "kind": "category", "hierarchy": {"prefix": [2, 1, 0]}},
                "age": {"role": "quasi", "hierarchy": {"interval": [10]}},
                "ill": {"role": "sensitive"},
            },
            "promise": {"k": 2},
            "defence": defence,
        }
    )


TABLE = pa.table(
    {
        "zip": ["111", "112", "121", "122", "211", "212", "213", "221"],
        "age": [31, 32, 33, 34, 41, 42, 43, 44],
        "ill": ["a", "b", "a", "b", "a", "b", "a", "b"],
    }
)


def published(asked: sr.Policy, tmp_path) -> pa.Table:
    release = sr.publish(TABLE, asked, sr.Ledger.open(tmp_path / "ledger.db"))
    assert release.verdict.released, release.verdict.reasons
    return release.table


def test_every_column_has_one_height(tmp_path):
    table = published(policy(), tmp_path)
    assert table.num_rows == 8
    assert set(table["zip"].to_pylist()) == {"1**", "2**"}
    assert set(table["age"].to_pylist()) == {"[30,39]", "[40,49]"}


def test_suppression_buys_a_finer_node(tmp_path):
    table = published(policy(suppress=0.125), tmp_path)
    assert table.num_rows == 7
    assert set(table["zip"].to_pylist()) == {"11*", "12*", "21*"}


@pytest.mark.parametrize("loss", list(LossKind))
def test_every_loss_can_be_asked_for(loss, tmp_path):
    assert published(policy(loss.value), tmp_path).num_rows == 8


def test_an_unknown_loss_is_named_as_a_fault():
    with pytest.raises(PolicyError, match=r"\[defence\] loss"):
        loss_named("beauty")


def test_a_lattice_with_too_many_nodes_is_refused_before_any_work(monkeypatch):
    monkeypatch.setattr(nodes, "MOST_NODES", 3)
    texts = pa.array(["a", "b"], pa.string())
    column = CodedColumn("q", np.zeros(4, dtype=np.int32), scale_of("set", texts, np.arange(2.0)))
    with pytest.raises(PolicyError, match="span 4 nodes"):
        all_heights([column, column], LossKind.NCP)


def test_what_cannot_hold_is_refused_with_a_reason(tmp_path):
    asked = sr.Policy.from_dict(
        {
            "series": {"name": "small"},
            "columns": {"zip": {"role": "quasi"}, "age": {"role": "quasi"}, "ill": {"role": "sensitive"}},
            "promise": {"k": 2, "l": 3},
            "defence": {"method": "lattice"},
        }
    )
    release = sr.publish(TABLE, asked, sr.Ledger.open(tmp_path / "ledger.db"))
    assert not release.verdict.released
    assert any(reason.startswith("l") for reason in release.verdict.reasons)
