"""What someone rules out who knows which value may follow which: each person's update graph (Li and Zhou 2008)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seriatim.model.history import History

Flags = npt.NDArray[np.bool_]


def values_left(history: History, follows: Flags) -> list[tuple[int, list[int]]]:
    """Return for everyone how many values are left in each of their releases, in order.

    A value is left if it is on a path through the values of all groups that the person was in; ``follows[a, b]`` says
    whether value b may follow value a.
    """
    seen: dict[int, list[Flags]] = {}
    for past in history:
        shown = np.zeros((int(past.group.max(initial=-1)) + 1, len(history.values)), dtype=np.bool_)
        shown[past.group, past.value] = True
        for person, group in zip(past.person.tolist(), past.group.tolist(), strict=True):
            if person >= 0:
                seen.setdefault(person, []).append(shown[group])
    return [(person, _on_paths(layers, follows)) for person, layers in seen.items()]


def _on_paths(layers: list[Flags], follows: Flags) -> list[int]:
    reached = [layers[0]]
    for layer in layers[1:]:
        reached.append(layer & follows[reached[-1]].any(axis=0))
    left = [reached[-1]]
    for layer in reversed(reached[:-1]):
        left.append(layer & follows[:, left[-1]].any(axis=1))
    return [int(one.sum()) for one in reversed(left)]
