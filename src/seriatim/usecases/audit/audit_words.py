"""The figures of an audit in plain English."""

from __future__ import annotations

from seriatim.model import Measure
from seriatim.report.words import format_number, format_percent, format_with_unit

FIGURES: dict[str, tuple[str, str]] = {
    "size": ("Smallest class", "records that look alike to anyone who knows the quasi-identifiers"),
    "distinct_l": ("Fewest different values", "in any class"),
    "entropy_l": ("Fewest equally likely values", "2 to the entropy of a class, in bits"),
    "max_p": ("Largest share of one value", "how sure a guess can be"),
    "tv": ("Total variation", "largest distance of a class from the prior; t with the equal distance"),
    "emd": ("Ordered distance", "earth mover's distance on ranks; t with the ordered distance"),
    "l_d": ("Distribution leakage", "Euclidean distance of belief before and after"),
    "l_e": ("Entropy leakage", "bits of certainty gained; negative if certainty is lost"),
    "kl": ("Kullback-Leibler divergence", "bits"),
    "beta": ("Largest relative gain", "basic beta-likeness"),
    "delta": ("Largest log ratio", "delta-disclosure; unbounded if a class rules out a value"),
    "n_missing": ("Values ruled out", "by one class"),
    "n_exclusive": ("Values found in one class only", "their holders must be in it"),
}
"""Title and meaning of each figure, in reading order."""

FOUND_AGAIN: dict[str, tuple[str, str]] = {
    "prosecutor_risk": ("Prosecutor", "Knows that the target is in the table: chance of the right record, at worst."),
    "journalist_risk": ("Journalist", "Knows only that the target is in the population."),
    "marketer_risk": ("Marketer", "Share of all records matched rightly when all are matched."),
    "uniques": ("Unique records", "Alone in their class."),
    "correct_given_unique": (
        "Unique match is right",
        "For a sample: how often a match with a unique record is correct.",
    ),
    "special_uniques": ("Special uniques", "Singled out by three columns or fewer."),
    "hit_chance": (
        "Best guess at a number comes near",
        "The largest share of a class within 5% of one guess, or within 15 days.",
    ),
    "equivocation_area": ("Least area below H(eps)", "What stays unknown about a number, in units of it x bits."),
    "noise_spread": ("Standard deviation of the noise", "About an eighth of the most that noise moves a value."),
    "noise_hit_chance": (
        "Best guess behind the noise",
        "How often an attacker who knows the published values' distribution and how noise is drawn comes near.",
    ),
    "noise_near": ("Noise still near the truth", "Values that one noisy number comes near to."),
    "fresh_noise_near": ("If every release had fresh noise", "Values that the mean of 8 releases would come near to."),
    "nothing_left": ("Numbers known exactly", "Records whose class holds one number only."),
    "distance_linkage": ("Nearest record is the right one", "Each record is linked to the nearest of the original."),
}

LOST: dict[str, tuple[str, str]] = {
    "suppressed_share": ("Withheld", "Records withheld, or with '*' in every quasi-identifier."),
    "gcp": ("Detail lost (GCP)", "0% keeps every cell as it was, 100% keeps nothing; the mean over all cells."),
    "discernibility": (
        "Discernibility",
        "Pairs that cannot be told apart; a withheld record counts as alike to all.",
    ),
    "average_class_size": ("Average class size", "Records that look alike."),
    "query_error_1%": ("Error of counts about 1% of people", "Median relative error of random range counts."),
    "query_error_5%": ("Error of counts about 5%", "The same, for larger ranges."),
    "query_error_10%": ("Error of counts about 10%", "The same, for still larger ranges."),
}

PER_COLUMN: dict[str, str] = {
    "domain_size": "values",
    "ncp": "detail lost (NCP)",
    "precision": "precision",
    "non_uniform_entropy": "bits lost per record",
    "untrue_share": "untrue cells",
}
"""Figures of one quasi-identifier, by column head."""

GLOSSARY: tuple[tuple[str, str], ...] = (
    (
        "Class",
        "Records with equal quasi-identifiers, or in one group of a series. Numbered from 0 by first record.",
    ),
    ("Prior", "What the adversary believed before seeing the table; named at the top of this page."),
    ("Leakage", "How far the table moves that belief: in shape (distribution) and in certainty (entropy, bits)."),
    ("By chance", "What classes of as many random records would show. Small classes look leaky by chance."),
    ("p-value", "How often such a class leaks as much. With many classes, some p-values are small by chance."),
    ("Precision", "1 minus the levels climbed over all levels; without a hierarchy, 1 minus NCP."),
)


def value_told(measure: Measure) -> str:
    """Write a measure's value for people."""
    if measure.unit == "chance":
        return format_percent(measure.value)
    return format_with_unit(measure.value, measure.unit)


def remark(measure: Measure) -> str:
    """Return what belongs beside the value: the population, what was assumed, what luck would give."""
    detail = measure.detail
    match measure.name:
        case "prosecutor_risk":
            return f"{format_percent(detail['share_above_0.2'])} of records above 20%"
        case "journalist_risk":
            return f"population: {detail['population']}"
        case "correct_given_unique" if "sampled" in detail:
            return f"sampled {format_percent(detail['sampled'])}; standard error {format_percent(detail['error'])}"
        case "correct_given_unique":
            supposed = (
                f"{format_percent(float(key[11:]))}: {format_percent(chance)}" for key, chance in _supposed(detail)
            )
            return f"if the table is a sample of {'; of '.join(supposed)}"
        case "special_uniques":
            return _telling(detail["sets_with"])
        case "hit_chance":
            whole = format_percent(detail["table"])
            return f"{detail['column']}, window {detail['window']}; in the whole table {whole}"
        case "equivocation_area":
            return f"{detail['column']}; {detail['of_usual_width']:.3g} bits of its usual width"
        case "noise_spread":
            return f"{detail['column']}, at most {detail['at_most']}"
        case "noise_hit_chance":
            alone = format_percent(detail["without_release"])
            return f"{detail['column']}, near is {detail['near']}; without a release {alone}"
        case "noise_near" | "fresh_noise_near":
            return f"{detail['column']}, near is {detail['near']}"
        case "nothing_left":
            return str(detail["column"])
        case "distance_linkage":
            left_out = f"; without {', '.join(detail['left_out'])}" if detail["left_out"] else ""
            luck, second = format_percent(detail["by_luck"]), format_percent(detail["second"])
            return f"by luck {luck}; among the two nearest {second}{left_out}"
        case "suppressed_share":
            return f"{detail['left_out']:,} withheld, {detail['all_star']:,} with '*' in every column"
    return ""


def _supposed(detail: object) -> list[tuple[str, float]]:
    assert isinstance(detail, dict)
    return [(key, chance) for key, chance in detail.items() if key.startswith("if_sampled_")]


def _telling(sets: dict[str, int]) -> str:
    most = sorted((name for name in sets if sets[name]), key=lambda name: (-sets[name], name))[:3]
    return f"most often by {', '.join(most)}" if most else ""


def figure_told(name: str, value: float) -> str:
    return format_percent(value) if name == "max_p" else format_number(value)
