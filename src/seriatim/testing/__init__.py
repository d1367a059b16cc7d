"""Contract suites for anyone who brings their own ledger, workers, method or promise.

Each suite is a list of clauses. ``check_...`` holds all of them against what it is given and raises
``ContractBroken``, an AssertionError with one line for each broken clause. No test framework is needed; with one, the
clauses can be run one by one: ``LEDGER_CONTRACT`` and its like are tuples of functions, named by what they demand.
"""

from seriatim.testing.clauses import ContractBroken
from seriatim.testing.defence_contract import DEFENCE_CONTRACT, check_defence
from seriatim.testing.ledger import check_ledger
from seriatim.testing.ledger_contract import LEDGER_CONTRACT
from seriatim.testing.promise_contract import PROMISE_CONTRACT, check_promise, published_counts
from seriatim.testing.shelf import SHELF_CONTRACT, check_shelf
from seriatim.testing.workers import WORKERS_CONTRACT, check_workers

__all__ = [
    "DEFENCE_CONTRACT",
    "LEDGER_CONTRACT",
    "PROMISE_CONTRACT",
    "SHELF_CONTRACT",
    "WORKERS_CONTRACT",
    "ContractBroken",
    "check_defence",
    "check_ledger",
    "check_promise",
    "check_shelf",
    "check_workers",
    "published_counts",
]
