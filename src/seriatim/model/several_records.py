"""Several records of a person in one release: what follows people follows one value of each, and says what to do."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from seriatim.errors import Fault

REMEDY = (
    "keep one record per person, such as the first or the latest, or one that sums them up; or publish each kind of "
    "record as a series of its own name; or make a column of each record (visit_1, visit_2), which a serial method "
    "publishes in a table of its own"
)


def several_records_fault(where: str, records: npt.NDArray[np.integer], further: str = "") -> Fault | None:
    """Return the fault if anyone has several records, with how many people have, and the most that one has.

    ``records`` has the number of records of everyone.
    """
    several = int((records > 1).sum())
    if not several:
        return None
    found = f"{several} respondents with more than one record, up to {int(records.max())}"
    return Fault(where, found, "one each", f"{REMEDY}{further}")


def most_records_at_once(person: npt.NDArray[np.integer], release: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Return the most records that each person has in one release; an entry of both arrays per record."""
    pairs, counts = np.unique(np.stack((person, release)), axis=1, return_counts=True)
    _, number = np.unique(pairs[0], return_inverse=True)
    most = np.zeros(int(number.max(initial=-1)) + 1, dtype=np.int64)
    np.maximum.at(most, number, counts)
    return most
