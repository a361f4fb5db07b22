"""What is done about findings after they were made: suppressions mark them, and are judged themselves."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from nodrop import platforms
from nodrop.config import Config
from nodrop.fabric.reading import Reading, Remark
from nodrop.lint.engine import judge, speaks
from nodrop.lint.finding import Finding, Located, Verdict
from nodrop.lint.rule import Rule, Strictness
from nodrop.lint.suppressions import KINDS, Ran, Settled, lasting, nothing_but, settle, today, written_in, wrong
from nodrop.locate import locate

if TYPE_CHECKING:
    from nodrop.report.outcome import LineOf


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What settling goes by: the site's configuration, all rules that there are, and those that were chosen."""

    config: Config
    every: Sequence[Rule]
    chosen: Sequence[Rule]
    strictness: Strictness

    @property
    def names(self) -> Mapping[str, str]:
        """The present name of every rule, by that and by former names."""
        return {name: rule.name for rule in self.every for name in (rule.name, *rule.aliases)}

    def ran(self, verdict: Verdict, reading: Reading) -> Ran:
        """What was judged; of what could not be read as a whole, nothing is said to have been."""
        if reading.problems:
            return Ran()
        rules = [rule for rule in self.chosen if speaks(rule, reading, self.strictness, self.config.severity)]
        return Ran.of(rules, verdict, reading)

    def of_remarks(self, remarks: Iterable[Remark]) -> tuple[Finding, ...]:
        """What the chosen rules make of remarks about suppressions."""
        rules = [rule for rule in self.chosen if rule.remark in KINDS]
        reading = nothing_but(remarks)
        if not reading.remarks or not rules:
            return ()
        verdict = judge(reading, rules, strictness=self.strictness, severity_overrides=self.config.severity)
        return verdict.findings


def settled(verdict: Verdict, reading: Reading, bench: Bench) -> tuple[tuple[Finding, ...], Settled]:
    """Return the findings of one fabric, marked where they are suppressed, and how suppressions fared in it.

    Among the findings are those about suppressions in its files, and in its intent.
    """
    stated, written = bench.config.suppress, tuple(written_in(reading))
    ran = bench.ran(verdict, reading)
    if not stated and not written:
        return verdict.findings, Settled(ran=ran)
    day, names = today(), bench.names
    findings, hits = settle(verdict.findings, (*stated, *written), names, day, partial(_places, reading))
    more = bench.of_remarks(wrong(written, (hits[one] for one in written), names, day, (ran,)))
    own = Settled(hits=tuple(hits[one] for one in stated), ran=ran, days=lasting(written, day))
    return (*findings, *more), own


def _places(reading: Reading, findings: Sequence[Finding]) -> list[tuple[Located, ...]]:
    """Where findings stand, and where the intent decided them, whose place is that of a part related to them."""
    pointed = locate(findings, reading, platforms.where).findings
    own = {source.display for sources in reading.sources.values() for source in sources}
    return [
        tuple(
            place
            for place in (one.located, *(part.located for part in one.related))
            if place is not None and (place is one.located or place.file not in own)
        )
        for one in pointed
    ]


def concluded(
    findings: Iterable[Finding], fabrics: Sequence[Settled], bench: Bench, *, whole: bool
) -> tuple[Finding, ...]:
    """Return what is wrong with the suppressions of the configuration, once all fabrics of a command are settled.

    Unless all that was given could be read as a `whole`, none is said to be unused.
    """
    suppressions = bench.config.suppress
    if not suppressions or not fabrics:
        return ()
    hits = [sum(counts) for counts in zip(*(one.hits for one in fabrics), strict=True)]
    ran = [one.ran for one in fabrics] if whole else []
    return bench.of_remarks(wrong(suppressions, hits, bench.names, today(), ran, findings))


def known(written: Mapping[tuple[str, int], str], line: "LineOf") -> "LineOf":
    """Return a function that knows, besides other lines, those that are given."""
    return partial(_line, written, line) if written else line


def _line(written: Mapping[tuple[str, int], str], line: "LineOf", file: str, number: int) -> str | None:
    return written.get((file, number)) or line(file, number)
