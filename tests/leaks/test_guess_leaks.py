"""No cell value enters a guessed policy."""

import pyarrow as pa

from seriatim.policies import guess_policy, sketch_columns

CANARIES = [f"canary{place}quartz" for place in range(30)]


def test_no_cell_value_enters_a_guessed_policy() -> None:
    table = pa.table(
        {
            "patient": CANARIES,
            "age": [770_000 + place for place in range(30)],
            "zip": [f"88{place:03}" for place in range(30)],
            "disease": CANARIES[::-1],
            "born on": [f"1971-03-{place % 28 + 1:02}" for place in range(30)],
            "remarks": [canary * 9 for canary in CANARIES],
            "same": ["canary-only"] * 30,
        }
    )
    text = guess_policy(sketch_columns(table), "visits")
    for value in (str(cell) for name in table.column_names for cell in table.column(name).to_pylist()):
        assert value not in text
    assert "canary" not in text
