"""Nothing is said where there is nothing to say: every shipped intent, on every platform and release that takes it.

Refused designs are as much a part of it: which intent a platform does not take, and the word that says why.
"""

import pytest

import nodrop
from nodrop.engine.finding import FabricVerdict
from nodrop.engine.rule import STRICTNESSES
from nodrop.engine.rules import shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.errors import InputProblems
from nodrop.resources import resource_folder
from nodrop.syntax.yaml import parse_yaml
from support.designs import build, tiers_of
from support.designs import shipped as shipped_intent
from support.marked import slow
from support.places import TESTS

INTENTS = sorted(path.stem for path in resource_folder("intents").glob("*.yaml"))
PLATFORMS = [("", ""), ("sonic", "202505"), ("sonic", "202511"), ("sonic", "202605"), ("sonic", "master")]
PLATFORMS += [("nvue", "5.14"), ("nvue", "5.16"), ("nvue", "5.19")]
QUICK = [("sonic", "202605"), ("nvue", "5.19")]
"""The newest release of each; the slow tests try the others. As written, the quick tests judge by all rules at once."""
REFUSED = parse_yaml((TESTS / "rules" / "no_noise.yaml").read_bytes(), "no_noise.yaml").data


def verdict(intent: str, platform: str, version: str, strictness: str = "regular") -> FabricVerdict:
    """Build an intent for a release of a platform, as it is where none is named, read it back and judge it."""
    values = {"platform": platform, "version": version} if platform else {}
    changes = {f"{path}.{key}": value for path in tiers_of(intent) for key, value in values.items()}
    fabric = build(shipped_intent(intent, changes))
    reading = nodrop.read_back([*nodrop.write(fabric), *nodrop.host_files(fabric)], fabric)
    return judge(reading, shipped_rules(), strictness=strictness)  # type: ignore[arg-type]


@pytest.mark.parametrize("intent", INTENTS)
@pytest.mark.parametrize(
    ("platform", "version"),
    [
        pytest.param(*pair, id=" ".join(pair).strip() or "own", marks=[] if pair in QUICK else pytest.mark.slow)
        for pair in PLATFORMS
    ],
)
def test_a_clean_build_has_no_findings_and_nothing_open(intent: str, platform: str, version: str) -> None:
    refusal = REFUSED.get(platform, {}).get(intent)
    if refusal:
        with pytest.raises(InputProblems, match=refusal):
            verdict(intent, platform, version)
        return
    found = verdict(intent, platform, version)
    assert [one.message for one in found.findings if one.severity != "note"] == []
    assert [(one.rule, one.missing) for one in found.unknown] == []
    assert found.problems == ()


@pytest.mark.parametrize("strictness", [*slow(*STRICTNESSES[1:-1]), STRICTNESSES[-1]])
@pytest.mark.parametrize("intent", INTENTS)
def test_nor_has_it_for_those_who_want_to_hear_more(intent: str, strictness: str) -> None:
    found = verdict(intent, "", "", strictness)
    assert [one.message for one in found.findings if one.severity != "note"] == []
    assert [(one.rule, one.missing) for one in found.unknown] == []
    assert found.problems == ()
