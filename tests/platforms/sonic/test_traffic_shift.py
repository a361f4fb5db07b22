"""A switch that is left shifted away from traffic, and what bgpcfgd changes by that."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from nodrop.engine.finding import Finding
from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.judging import CheckSettings, run_rules
from nodrop.platforms.sonic.releases import DATABASE_VERSION_BY_RELEASE
from support.single_faults import Fault, inject, reading_of

RULES = [rule for rule in select_lint_rules(shipped_rules()) if rule.area == "sonic"]
STATE = "BGP_DEVICE_GLOBAL/STATE"
NOTHING = "which changes nothing, because "
SHIFTED = "which shifts traffic away from the switch"
MAP, SESSION = "route-map FABRIC-OUT permit 10", "route-map FABRIC-OUT out"


def found(settings: Mapping[str, str], *replaced: tuple[str, str], **row: Any) -> list[Finding]:
    """Return what is found where the file of leaf1 has these settings, and its frr.conf other words."""
    edits: dict[str, Any] = {"set": {"leaf1/config_db.json": dict(settings)}}
    if replaced:
        edits["replace"] = {"leaf1/frr.conf": [{"old": old, "new": new} for old, new in replaced]}
    fault = Fault({"of": "shift", "fault": "left", "sonic": edits, **row}, "sonic", "")
    return list(run_rules(reading_of(fault, inject(fault)), RULES, CheckSettings()).findings)


def only(findings: list[Finding], rule: str) -> Finding:
    (finding,) = (finding for finding in findings if finding.rule == rule)
    return finding


def lines(finding: Finding) -> list[tuple[str, ...]]:
    return [commands.lines for commands in finding.fix.commands] if finding.fix else []


@pytest.mark.parametrize(
    ("replaced", "effect"),
    [
        ((), f"{NOTHING}no export policy has V4 or V6 in its name"),
        (((SESSION, "route-map OUT_V4 out"),), SHIFTED),
        (
            (
                (
                    f" neighbor SPINES {SESSION}",
                    f" neighbor SPINES {SESSION}\n  neighbor 10.1.1.225 route-map OUT_V4 out",
                ),
            ),
            f"{SHIFTED}, but sessions with FABRIC-OUT (no V4 or V6 in the name) stay as they are",
        ),
    ],
)
def test_a_shift_that_was_left_is_found_with_its_effect_and_end(
    replaced: tuple[tuple[str, str], ...], effect: str
) -> None:
    other_map = [(MAP, f"{MAP}\nroute-map OUT_V4 permit 10")] if replaced else []
    finding = only(found({f"{STATE}/tsa_enabled": "true"}, *other_map, *replaced), "traffic-shifted-away")
    assert finding.severity == "warning"
    assert finding.message == f"BGP_DEVICE_GLOBAL has tsa_enabled true, {effect}"
    assert lines(finding) == [("sudo TSB", "sudo config save -y")]


def test_frrcfgd_reads_no_shift() -> None:
    mode = {"DEVICE_METADATA/localhost/frr_mgmt_framework_config": "true"}
    finding = only(found({f"{STATE}/tsa_enabled": "true", **mode}), "traffic-shifted-away")
    assert finding.message.endswith(f"{NOTHING}frrcfgd does not read it")


@pytest.mark.parametrize(
    ("kind", "calls", "effect"),
    [
        ("ToRRouter", False, f"{NOTHING}the type of the switch is ToRRouter"),
        ("LowerSpineRouter", False, f"{NOTHING}no route map calls CHECK_IDF_ISOLATION"),
        ("SpineRouter", True, SHIFTED),
    ],
)
def test_isolation_has_an_effect_on_spines_with_the_map_of_the_templates(kind: str, calls: bool, effect: str) -> None:
    settings = {f"{STATE}/idf_isolation_state": "isolated_no_export", "DEVICE_METADATA/localhost/type": kind}
    called = [(MAP, f"{MAP}\n call CHECK_IDF_ISOLATION")] if calls else []
    finding = only(found(settings, *called), "traffic-shifted-away")
    assert finding.message == f"BGP_DEVICE_GLOBAL has idf_isolation_state isolated_no_export, {effect}"
    end = 'sudo sonic-db-cli CONFIG_DB HSET "BGP_DEVICE_GLOBAL|STATE" idf_isolation_state unisolated'
    assert lines(finding) == [(end, "sudo config save -y")]


@pytest.mark.parametrize(
    ("release", "fields"),
    [
        ("202311", ["tsa_enabled"]),
        ("202405", ["idf_isolation_state", "tsa_enabled"]),
        ("202411", ["idf_isolation_state", "tsa_enabled", "wcmp_enabled"]),
        ("202605", ["idf_isolation_state", "tsa_enabled", "wcmp_enabled"]),
    ],
)
def test_a_field_counts_from_the_release_on_that_has_it(release: str, fields: list[str]) -> None:
    row = {"tsa_enabled": "true", "idf_isolation_state": "isolated_withdraw_all", "wcmp_enabled": "true"}
    settings = {f"{STATE}/{name}": value for name, value in row.items()}
    findings = found({**settings, "VERSIONS/DATABASE/VERSION": DATABASE_VERSION_BY_RELEASE[release]})
    own = [one.message for one in findings if one.rule in ("traffic-shifted-away", "weights-without-policy")]
    assert sorted(name for name in row if re.search(rf"\b{name}\b", " ".join(own))) == fields
    refused = " ".join(one.message for one in findings if one.rule == "unknown-field")
    assert sorted(name for name in row if name in refused) == sorted(row.keys() - {*fields})


def test_a_switch_that_is_stated_as_drained_has_a_note() -> None:
    policy = {"devices": {"leaf1": {"drained": True}}}
    finding = only(found({f"{STATE}/tsa_enabled": "true"}, overlay=policy), "traffic-shifted-away")
    assert finding.severity == "note"


def test_weights_that_no_policy_gets_are_turned_off_if_none_are_meant() -> None:
    finding = only(found({f"{STATE}/wcmp_enabled": "true"}), "weights-without-policy")
    end = 'sudo sonic-db-cli CONFIG_DB HSET "BGP_DEVICE_GLOBAL|STATE" wcmp_enabled false'
    assert lines(finding) == [(end, "sudo config save -y")]
    replaced = (MAP, f"{MAP}\nroute-map TO_BGP_PEER_V4 permit 10"), (SESSION, "route-map TO_BGP_PEER_V4 out")
    assert not [one for one in found({f"{STATE}/wcmp_enabled": "true"}, *replaced) if one.rule == finding.rule]
