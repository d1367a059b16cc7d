"""seriatim attack"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seriatim.cli.options import LEDGER, AdversaryKeys, AsJson, LedgerUrl, ReportFile, known_to_adversary, ledger_place

if TYPE_CHECKING:
    from rich.table import Table

    from seriatim.attacks.group_intersection import ShrinkingCounts
    from seriatim.usecases.attack.assembly import AssembledHistory
    from seriatim.usecases.attack.attack import AdversaryResult
    from seriatim.usecases.attack.attack_page import HistoryReport


MOST_HOLDERS = 12
"""Recipients that a terminal lists; the report has them all."""


HistoryFolder = Annotated[
    Path | None,
    typer.Option(
        help="Folder with a CSV or Parquet file per release, ordered by name, made by any tool; "
        "for buckets also NAME-values with the values of each group."
    ),
]
RespondentsFile = Annotated[
    Path | None,
    typer.Option(
        help="Table of who was in which row; columns: release (the file's name), row, respondent "
        "(for buckets also the value; a column group may replace row)."
    ),
]
Sensitive = Annotated[str | None, typer.Option(help="Sensitive column (guessed from the names if omitted).")]
Quasi = Annotated[
    list[str] | None,
    typer.Option(help="Column others may know; may be repeated (all but the sensitive one if omitted)."),
]
Register = Annotated[
    Path | None,
    typer.Option(help="List of people (respondent, columns of the releases): anyone who fits a box may be in it."),
]
View = Annotated[
    str | None,
    typer.Option(help="With --series: a table that a release was made from, to attack the cuts of its method too."),
]
ViewPolicy = Annotated[Path | None, typer.Option("--policy", "-p", help="The policy of --view.")]
Recipient = Annotated[
    str | None, typer.Option(help="Attack only what this recipient received, as the ledger knows it.")
]
BreachedPeople = Annotated[
    Path | None,
    typer.Option(help="Write who is breached, and by which releases, to this CSV file (mode 0600). Keep it secret."),
]


def command(
    history: HistoryFolder = None,
    respondents: RespondentsFile = None,
    sensitive: Sensitive = None,
    quasi: Quasi = None,
    register: Register = None,
    ledger: LedgerUrl = LEDGER,
    series: Annotated[str | None, typer.Option(help="Series of the ledger, instead of --history.")] = None,
    view: View = None,
    policy: ViewPolicy = None,
    recipient: Recipient = None,
    adversary: AdversaryKeys = None,
    least: Annotated[int, typer.Option(min=1, help="Count people who have fewer than this many possible values.")] = 3,
    out: ReportFile = None,
    private: BreachedPeople = None,
    as_json: AsJson = False,
) -> None:
    """Attack releases as someone who kept every one of them could. The files may come from any tool.

    Example: seriatim attack --history monthly/ --respondents who.csv --out attack.html

    Example: seriatim attack --ledger sqlite:///ledger.db --series ward-visits --adversary "compromised = 0.04"

    Example: seriatim attack --series ward-visits --adversary "collusion = 2"
    """
    from seriatim import api
    from seriatim.cli import output
    from seriatim.cli.compile_ahead import compile_ahead

    knowledge = known_to_adversary(adversary) | {"least": least}
    of_ledger = (recipient, view, policy) != (None, None, None)
    _check_source(history, series, respondents or quasi or register, of_ledger)
    if private is not None:
        api.refuse_private_list(private)
    files = None
    with output.progress_bar(silent=as_json) as progress:
        compile_ahead("narrowing", "conclusions", "twins")
        if history is not None:
            files = _folder(history, respondents, sensitive, quasi)
        if files is not None:
            result = api.attack(files.history, knowledge, progress=progress, private=private)
        else:
            result = api.attack(
                api.open_ledger(*ledger_place(ledger), create=False),
                knowledge,
                series,
                progress,
                sensitive=sensitive,
                recipient=recipient,
                private=private,
                view=view,
                policy=None if policy is None else api.load_policy(policy),
            )
    title = str(series) if history is None else history.resolve().name
    report = api.attack_report(result, title, files, register)
    output.write_report(report, out)
    if as_json:
        output.print_text(report.to_json())
    else:
        _show(report, files is not None and sensitive is None, out)


def _check_source(history: Path | None, series: str | None, of_folder: object, of_ledger: bool) -> None:
    """Refuse options that do not go together: a folder and a ledger are attacked each with options of their own."""
    from seriatim.errors import Fault, InputError

    if (history is None) == (series is None):
        found = "neither --history nor --series" if history is None else "both --history and --series"
        raise InputError(Fault("attack", found, "--history with --respondents, or --series", "give one"))
    if history is None and of_folder:
        found = "--respondents, --quasi or --register with a series of the ledger"
        raise InputError(Fault("attack", found, "they describe a folder of files", "use them with --history"))
    if history is not None and of_ledger:
        found = "--recipient, --view or --policy with a folder of files"
        raise InputError(Fault("attack", found, "they belong to a series of the ledger", "use them with --series"))


def _folder(
    history: Path, respondents: Path | None, sensitive: str | None, quasi: list[str] | None
) -> AssembledHistory:
    from seriatim import api
    from seriatim.errors import Fault, InputError

    if respondents is None:
        raise InputError(Fault("--respondents", "missing", "a table with columns release, row, respondent"))
    return api.attack_history_of_folder(history, respondents, sensitive, quasi or None)


def _sentences(result: AdversaryResult) -> list[str]:
    """Return what each attack found. With nobody compromised nothing is drawn, so there is no interval."""
    once, iterated = result.once, result.iterated
    share = float(iterated.detail["compromised"])
    interval = f" (95% interval {iterated.low:.2%} to {iterated.high:.2%})" if share else ""
    by_name, narrowed = iterated.detail["known_by_name"], iterated.detail["narrowed"]
    drawn = [f"{share:.2%} of people compromised, {len(iterated.detail['seeds'])} draws"] if share else []
    known = " and ".join([*drawn, *([f"{by_name:,} known by name"] if by_name else [])]) or "nobody compromised"
    lost = f"; {narrowed:,} others lose possible values" if narrowed and (share or by_name) else ""
    # people are split where their value changes, which nobody is told in truth
    told = ", told when a value changes" if result.sequence is not None or result.n_unfollowed else ""
    joined = f", and of {result.n_joined:,} more through what their twins can hold" if result.n_joined else ""
    # groups that overlap too densely are not fully solved: silence would look like safety
    undecided = f"; not fully solved for {result.n_undecided:,}" if result.n_undecided else ""
    return [
        f"exclusion, {known}{told}: {once.share:.2%} of people breached in one round, "
        f"{iterated.share:.2%} to the fixed point{interval}{lost}",
        f"linear combinations of groups: the value of {result.n_determined:,} people determined{joined}; "
        f"{result.n_twins:,} people in {result.n_twin_sets:,} sets of twins{undecided}",
        f"wrong inferences: {result.wrong}",
    ]


def _show(report: HistoryReport, guessed: bool, out: Path | None) -> None:
    from seriatim.cli.output import console, print_text, print_whole
    from seriatim.usecases.attack import attack_words

    result = report.result
    for at, note in enumerate(report.notes):
        guess = " (a guess; name another with --sensitive)" if guessed and not at else ""
        print_text(note + guess)
    if report.holders:
        print_whole(_holders(report))
        print_text(f"the figures below are of {report.worst}")
    if result.sequence is not None:
        console.print("values change; for an attacker who knows how values usually change:")
        for line in (*attack_words.about_sequence(result.sequence), attack_words.about_appearances(result.sequence)):
            console.print(f"  {line}", soft_wrap=True, highlight=False)
    if result.n_unfollowed:
        print_text(attack_words.about_unfollowed(result.n_unfollowed))
    console.print("intersection, from the published groups alone:")
    console.print(_table(report, result.releases))
    if report.by_register:
        console.print("the same with a register of people instead of --respondents:")
        console.print(_table(report, report.by_register))
    told = (attack_words.about_other_series, attack_words.about_method, attack_words.about_learnt)
    for line in (*_sentences(result), *(line for about in told for line in about(result))):
        console.print(line, soft_wrap=True)
    if result.withheld is not None and result.withheld.series.n_withheld:
        console.print(f"withheld: {attack_words.about_withheld(result.withheld)}", soft_wrap=True)
    if out is not None:
        print_text(f"  report    {out}")


def _holders(report: HistoryReport) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for at, name in enumerate(report.HOLDERS):
        table.add_column(name, justify="left" if at < 2 else "right", overflow="fold")
    for cells in report.holders[:MOST_HOLDERS]:
        table.add_row(*map(escape, cells))
    if len(report.holders) > MOST_HOLDERS:
        table.add_row(f"and {len(report.holders) - MOST_HOLDERS:,} more", "", "", "")
    return table


def _table(report: HistoryReport, releases: tuple[ShrinkingCounts, ...]) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in ("release", "people", f"below {report.result.least} values", "one value"):
        table.add_column(name, justify="right")
    for release in releases:
        cells = (report.name_of(release.number), *(f"{n:,}" for n in (release.n_people, release.below, release.single)))
        table.add_row(*map(escape, cells))
    return table
