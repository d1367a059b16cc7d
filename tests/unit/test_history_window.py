"""The newest releases of a history, with the people in them only."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from seriatim.model.history import History, PastRelease


def test_the_newest_releases_have_their_people_only() -> None:
    ints = {
        name: np.array(held, dtype=np.int32) for name, held in {"a": [0, 1], "b": [3, -1, 1], "z": [0, 0, 1]}.items()
    }
    history = History(
        pa.array(["ann", "bob", "cid", "dan"]),
        pa.array(["x", "y"]),
        (
            PastRelease(1, person=ints["a"], group=ints["a"], value=ints["a"]),
            PastRelease(2, person=ints["b"], group=ints["z"], value=ints["z"]),
        ),
    )
    newest = history.newest(1)
    assert newest.respondents.to_pylist() == ["bob", "dan"]
    assert [past.number for past in newest] == [2]
    assert newest.releases[0].person.tolist() == [1, -1, 0]
    assert history.newest(5).releases[0].person.tolist() == [0, 1]
    assert len(History(pa.array([], pa.string()), pa.array([], pa.string())).newest(3)) == 0
