"""Every shipped rule, by its own examples: exactly the subjects that it says, on every platform that can say them."""

import re
from collections.abc import Callable, Iterable

import pytest

from nodrop import platforms
from nodrop.engine.example_setup import PlatformExamples, UnsupportedExample
from nodrop.engine.examples import run_example
from nodrop.engine.finding import Finding
from nodrop.engine.rules import shipped_rules
from nodrop.locate import add_finding_places
from nodrop.model.reading import Reading
from nodrop.platforms.kit.examples import PORT_NAMES_PLATFORM, TIER_CHANGES_BY_PLATFORM
from nodrop.resources import resource_folder
from support.marked import slow
from support.places import TESTS
from support.shared_results import shared

UNSAID = TESTS / "rules" / "unsaid_examples.txt"
PLATFORMS = list(TIER_CHANGES_BY_PLATFORM)
OTHERS = slow(*(name for name in PLATFORMS if name != PORT_NAMES_PLATFORM))
"""Platforms besides the one in whose words examples are written."""
CASES = [(rule, example) for rule in shipped_rules() for example in rule.examples]
IDS = [f"{rule.name}-{example.name}" for rule, example in CASES]


def places(findings: Iterable[Finding], reading: Reading) -> Iterable[Finding]:
    """Fill in where findings stand."""
    return add_finding_places(findings, reading, platforms.make_place_finder).findings


UNSAYABLE = {(rule.name, platform) for rule in shipped_rules() for platform in rule.unseen}
"""Faults that cannot be on a platform, as their rules say; every other rule catches its own there."""


MOST_WORDS = 20
MAY_BE_LONG = {"broken-condition": "a condition of SONiC's model has as many parts as it needs"}
_UNIT = re.compile(r"(\d[\d.]*) (B|kB|MB|GB|ms|s|m|%|bytes|Gbit/s|Gb/s)(?=[\s,;:.)]|$)")


def count_words(message: str) -> int:
    """The number of words of a message; a number with its unit is one, and so is a quotation of a file."""
    return len(_UNIT.sub(r"\1\2", re.sub(r"`[^`]*`|'[^']*'", "quoted", message)).split())


def test_words_are_counted() -> None:
    assert count_words("Ethernet0 takes 1.5 MB at 100 %; `a b c` is 'd e'") == 8


Run = Callable[[int, str], tuple[str, str]]
"""From a case and a platform to what `run_case` returns."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Each case runs once on each platform, whichever process of the test run needs it."""
    return shared(tmp_path_factory, run_case)


def run_case(case: int, platform: str) -> tuple[str, str]:
    """Run an example on a platform: what is wrong with it or its messages, and why the platform cannot say it."""
    rule, example = CASES[case]
    setting = PlatformExamples(platform)
    long_messages: list[str] = []

    def places_and_words(findings: Iterable[Finding], reading: Reading) -> Iterable[Finding]:
        found = list(findings)
        limited = [] if rule.name in MAY_BE_LONG else found
        long_messages.extend(f"long: {one.message}" for one in limited if count_words(one.message) > MOST_WORDS)
        return places(found, reading)

    try:
        setting.raise_if_example_unsupported(example)
        failures = run_example(
            rule,
            example,
            setting.build_base_fabric,
            setting.read_fabric_from_platform_files,
            setting.views_of_edited_artifacts,
            places_and_words,
        )
    except UnsupportedExample as reason:
        return "", str(reason)
    return "\n".join([*map(str, failures), *long_messages]), ""


@pytest.mark.parametrize("platform", [PORT_NAMES_PLATFORM, *OTHERS])
@pytest.mark.parametrize("case", range(len(CASES)), ids=IDS)
def test_example(run: Run, case: int, platform: str) -> None:
    failures, _ = run(case, platform)
    assert not failures, failures


@pytest.mark.slow
def test_every_example_is_said_by_a_platform_and_what_others_cannot_is_written_down(
    run: Run, update_golden: bool
) -> None:
    lines = []
    for case, name in enumerate(IDS):
        reasons = {platform: run(case, platform)[1] for platform in PLATFORMS}
        assert not all(reasons.values()), f"{name}: no platform can say it: {reasons}"
        lines += [f"{name} on {platform}: {reason}" for platform, reason in reasons.items() if reason]
    text = "\n".join(("Examples that a platform cannot say, and why.", "", *lines, ""))
    if update_golden:
        UNSAID.write_text(text)
    assert UNSAID.read_text() == text


@pytest.mark.slow
def test_every_fault_that_a_platform_can_have_is_caught_there(run: Run) -> None:
    said: dict[tuple[str, str], set[str]] = {
        (rule.name, platform): set() for rule in shipped_rules() for platform in PLATFORMS
    }
    for case, (rule, example) in enumerate(CASES):
        for platform in PLATFORMS:
            if not run(case, platform)[1]:
                said[rule.name, platform].add(example.kind)
    assert {pair for pair, kinds in said.items() if "bad" not in kinds} == UNSAYABLE
    assert {pair for pair, kinds in said.items() if "good" not in kinds} == set()


def test_every_rule_file_is_loaded() -> None:
    files = sorted(path.stem for path in resource_folder("rules").rglob("*.yaml"))
    assert "pfc-without-watchdog" in files
    assert [rule.name for rule in shipped_rules()] == files


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_sound_fabric_has_no_findings(platform: str) -> None:
    from nodrop.engine.verdicts import judge

    setting = PlatformExamples(platform)
    (view,) = setting.read_fabric_from_platform_files(setting.build_base_fabric({}))
    reading = view.reading
    verdict = judge(reading, shipped_rules(), strictness="auditor")
    assert verdict.findings == ()
    assert verdict.unknown == ()
    assert verdict.rules == sum("lossless" in rule.modes for rule in shipped_rules())


def test_rules_that_are_not_certain_say_why() -> None:
    assert [rule.name for rule in shipped_rules() if (rule.confidence == "certain") == bool(rule.because)] == []
