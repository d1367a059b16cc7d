"""Mine sequence knowledge, and show it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from seriatim.errors import Fault, InputError
from seriatim.model import History
from seriatim.model.doors import whole_argument
from seriatim.tables.reader import read_table

if TYPE_CHECKING:
    from seriatim.knowledge.sequence_model import Denominators, Unseen
    from seriatim.usecases.knowledge import ModelAccount, Step


def mine_knowledge_file(
    table: Any,
    out: str | Path | None = None,
    *,
    respondent: str = "respondent",
    time: str = "release",
    value: str = "sensitive",
    cls: str | None = None,
    order: int | None = None,
    step: str | None = None,
    unseen: str = "backoff",
    denominators: str = "continued",
) -> ModelAccount:
    """Mine how values follow each other from a long table, or a History; write it to ``out`` (TOML) if given.

    The columns of a table are named by ``respondent``, ``time``, ``value`` and perhaps ``cls``; a History has them.
    ``step`` (day, week, month, quarter, year) says what one step is if times are dates. Without ``order``, two values
    back are mined where the pairs allow it: where others' steps are guessed better by it.
    """
    from seriatim.knowledge.knowledge_files import model_bytes
    from seriatim.storage.durable_files import refuse_foreign_file, write_whole
    from seriatim.usecases.knowledge import MiningPlan, ModelAccount, account_of_history, account_of_table

    plan = MiningPlan(
        respondent=respondent,
        time=time,
        value=value,
        cls=cls,
        order=order,
        step=cast("Step | None", step),
        unseen=cast("Unseen", unseen),
        denominators=cast("Denominators", denominators),
    )
    if isinstance(table, History):
        account = ModelAccount(account_of_history(table, plan))
    else:
        account = ModelAccount(account_of_table(read_table(table).data, plan))
    if out is not None:
        refuse_foreign_file(Path(out))
        write_whole(model_bytes(account.model, Path(out)))
    return account


def show_knowledge_file(knowledge: str | Path, epsilon: float | None = None, releases: int = 10) -> ModelAccount:
    """Read a knowledge file and say what it holds, and what so many releases of one ``epsilon`` leak to its owner."""
    from seriatim.knowledge.knowledge_files import read_model
    from seriatim.usecases.knowledge import ModelAccount

    if epsilon is not None and not 0.0 < epsilon <= 100.0:
        raise InputError(Fault("epsilon", f"{epsilon:g}", "a number above 0 and up to 100"))
    n = whole_argument("releases", releases)
    return ModelAccount(read_model(Path(knowledge)), () if epsilon is None else (float(epsilon),) * n)
