"""Contract suites for whoever brings their own ledger, workers, method or promise.

Each suite is a list of laws. ``check_...`` holds all of them against what it is given and raises ``LawBroken``, an
AssertionError with one line for each broken law. No test framework is needed; with one, the laws can be run one by
one: ``LEDGER_LAWS`` and its like are tuples of functions, named by what they demand.
"""

from seriatim.testing.defence import check_defence
from seriatim.testing.defence_laws import DEFENCE_LAWS
from seriatim.testing.laws import LawBroken
from seriatim.testing.ledger import check_ledger
from seriatim.testing.ledger_laws import LEDGER_LAWS
from seriatim.testing.promise import check_promise, published_table
from seriatim.testing.promise_laws import PROMISE_LAWS
from seriatim.testing.workers import WORKERS_LAWS, check_workers

__all__ = [
    "DEFENCE_LAWS",
    "LEDGER_LAWS",
    "PROMISE_LAWS",
    "WORKERS_LAWS",
    "LawBroken",
    "check_defence",
    "check_ledger",
    "check_promise",
    "check_workers",
    "published_table",
]
