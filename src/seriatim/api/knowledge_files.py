"""Mine sequence knowledge, and show it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from seriatim.model import History
from seriatim.tables.reader import read_table

if TYPE_CHECKING:
    from seriatim.usecases.knowledge.knowledge_account import KnowledgeAccount


def mine_knowledge(source: Any, out: str | Path | None = None, **words: Any) -> KnowledgeAccount:
    """Mine how values follow each other from a History, or a long table; write it to ``out`` (TOML) if given.

    ``words`` are the fields of ``KnowledgePlan``: the columns ``respondent``, ``time``, ``value`` and ``cls``, and
    ``order``, ``unseen`` and ``denominators``.
    """
    from seriatim.knowledge.knowledge_files import write_knowledge_file
    from seriatim.usecases.knowledge.knowledge_account import (
        KnowledgeAccount,
        KnowledgePlan,
        mined_knowledge,
        mined_knowledge_of_history,
    )

    plan = KnowledgePlan(**words)
    if isinstance(source, History):
        account = KnowledgeAccount(mined_knowledge_of_history(source, plan))
    else:
        account = KnowledgeAccount(mined_knowledge(read_table(source).data, plan))
    if out is not None:
        write_knowledge_file(account.model, Path(out))
    return account


def show_knowledge(path: str | Path) -> KnowledgeAccount:
    """Read a knowledge file and say what it holds."""
    from seriatim.knowledge.knowledge_files import read_knowledge_file
    from seriatim.usecases.knowledge.knowledge_account import KnowledgeAccount

    return KnowledgeAccount(read_knowledge_file(Path(path)))
