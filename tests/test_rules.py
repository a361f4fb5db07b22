"""Every shipped rule, by its own examples: exactly the subjects that it says, on every platform that can say them."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from nodrop import platforms
from nodrop.fabric.reading import Reading
from nodrop.lint.examples import run_example
from nodrop.lint.finding import Finding
from nodrop.lint.rules import shipped
from nodrop.locate import locate

import rule_examples  # isort: skip

UNSAID = Path(__file__).parent / "unsaid_examples.txt"
PLATFORMS = [platform for platform in rule_examples.TIERS if platform in platforms.names()]
CASES = [(rule, example) for rule in shipped() for example in rule.examples]
IDS = [f"{rule.name}-{example.name}" for rule, example in CASES]


def places(findings: Iterable[Finding], reading: Reading) -> Iterable[Finding]:
    """Fill in where findings stand."""
    return locate(findings, reading, platforms.where).findings


UNSAYABLE = {
    ("two-lossless-pools", "sonic"): "SONiC has as many lossless pools as are told",
    ("session-without-policy", "nvue"): "NVUE's sessions pass routes without policies",
    ("link-pause-with-pfc", "sonic"): "config_db has no field for 802.3x flow control",
    ("pam4-without-autoneg", "sonic"): "the trouble is that of Cumulus Linux",
    ("pause-sent-not-obeyed", "nvue"): "the cables of the examples are stated: pfc-one-sided tells it",
    ("tunnel-derives-dscp", "sonic"): "SONiC's tunnels copy the DSCP or hide it",
    ("adaptive-routing-half-on", "sonic"): "SONiC has no adaptive routing",
    ("adaptive-routing-misplaced", "sonic"): "SONiC has no adaptive routing",
    ("adaptive-routing-not-on-port", "sonic"): "SONiC has no adaptive routing",
    ("adaptive-routing-uneven", "sonic"): "SONiC has no adaptive routing",
    ("adaptive-routing-unsupported", "sonic"): "SONiC has no adaptive routing",
    ("address-without-interface-row", "nvue"): "an interface of NVUE is there with its address",
    ("bfd-without-daemon", "nvue"): "NVUE starts the daemon itself",
    ("breakout-not-on-model", "sonic"): "impossible-speed and lane-of-two-ports tell it",
    ("bracket-reference", "nvue"): "the brackets of old config_db references are SONiC's",
    ("broken-condition", "nvue"): "the conditions are those of SONiC's models",
    ("cable-not-in-table", "nvue"): "NVUE has no table of cable lengths: it works headroom out",
    ("comma-port-list", "nvue"): "lists of ports in a key are how NVUE is written",
    ("dual-tor-without-remap", "nvue"): "two leaves that bounce traffic through a tunnel are SONiC's",
    ("ecn-without-wred", "nvue"): "NVUE marks whether RED is on or not",
    ("ignored-table", "nvue"): "NVUE has no tables",
    ("file-beside-startup", "sonic"): "SONiC keeps its settings in one file",
    ("flat-headroom", "nvue"): "NVUE works headroom out for each length",
    ("lane-of-two-ports", "nvue"): "NVUE names ports by the panel and never lanes",
    ("lossless-pg-without-headroom", "nvue"): "a priority with PFC has headroom in NVUE",
    ("unknown-command", "nvue"): "unknown-setting tells it",
    ("value-in-two-lists", "nvue"): "overlapping-keys tells it",
    ("lossless-priority-on-other-queue-or-pg", "nvue"): "a switch priority pauses the traffic class that it leaves by",
    ("lossless-queue-on-lossy-buffer", "nvue"): "NVUE gives lossless queues their buffer itself",
    ("lossless-queue-without-ecn", "nvue"): "a second priority with PFC changes the pools, which NVUE computes",
    ("lossless-without-cable-length", "nvue"): "NVUE takes 1 m or more, and has a default",
    ("marking-threshold-ignored", "sonic"): "SONiC marks by bytes only",
    ("lossy-limit-of-lossless-class", "sonic"): "the buffers are NVUE's",
    ("pool-without-memory", "sonic"): "the pools are NVUE's",
    ("quota-not-programmed", "sonic"): "threshold-unlike-pool tells it",
    ("macro-mode-not-stated", "sonic"): "SONiC has no macro",
    ("shared-headroom-contradicted", "sonic"): "the settings are NVUE's",
    ("macro-contradicted", "sonic"): "SONiC has no macro",
    ("missing-field", "nvue"): "what has to be there is what SONiC's models say",
    ("mixed-dialect", "sonic"): "config_db has one dialect",
    ("name-not-known-to-tools", "nvue"): "the tools are SONiC's",
    ("overlapping-keys", "sonic"): "SONiC's overlapping keys are ranges of rows: overlapping-range tells it",
    ("overlapping-range", "nvue"): "the rows are SONiC's",
    ("part-without-breakout", "sonic"): "a SONiC port has its lanes, whole port or part",
    ("peer-link-with-pfc", "nvue"): "what NVUE's mlag says is not read into the model",
    ("pool-exceeds-memory", "nvue"): "NVUE sizes its pools itself, in shares of the memory",
    ("port-lost-to-breakout", "sonic"): "lane-of-two-ports tells it",
    ("port-not-on-model", "sonic"): "what a SONiC port is, its lanes say",
    ("priority-group-in-egress-pool", "nvue"): "NVUE gives each side its pools itself",
    ("profile-without-one-threshold", "nvue"): "the profiles are SONiC's",
    ("qos-with-breakout", "sonic"): "SONiC has no revisions: a file is loaded whole",
    ("queue-in-ingress-pool", "nvue"): "NVUE gives each side its pools itself",
    ("queue-without-traffic-class", "nvue"): "NVUE's queues are its traffic classes",
    ("rejected-row", "nvue"): "NVUE refuses a setting that it does not know with the whole revision",
    ("replaced-profile", "nvue"): "the profiles are SONiC's",
    ("threshold-too-large", "nvue"): "malformed-value tells it",
    ("threshold-unlike-pool", "nvue"): "the profiles are SONiC's",
    ("traffic-classes-share-lossless-group", "nvue"): "each priority that pauses has a priority group to itself",
    ("session-without-link-local", "nvue"): "Cumulus Linux routes by the link-local addresses of every port",
    ("setting-of-another-chip", "sonic"): "what a chip cannot do is told of each thing by its own rule",
    ("setting-of-another-release", "sonic"): "unknown-table and unknown-field tell it",
    ("shared-headroom-too-small", "nvue"): "NVUE's ports share no headroom in these releases",
    ("unit-suffix", "sonic"): "malformed-value tells it",
    ("unknown-field", "nvue"): "unknown-setting tells it",
    ("unknown-setting", "sonic"): "unknown-table and unknown-field tell it",
    ("unknown-table", "nvue"): "NVUE has no tables",
    ("utilization-threshold-unused", "sonic"): "SONiC has no adaptive routing",
    ("value-out-of-range", "nvue"): "malformed-value tells it",
    ("watchdog-condition-off", "sonic"): "SONiC's watchdog has no conditions to choose",
    ("watchdog-frees-stuck-queue", "sonic"): "SONiC's watchdog has no conditions to choose",
    ("watchdog-never-acts", "sonic"): "SONiC's watchdog has no conditions to choose",
    ("watchdog-not-on-port", "sonic"): "a row of SONiC's watchdog is of a port",
    ("watchdog-action-not-taken", "nvue"): "NVUE runs on chips that take every action",
    ("watchdog-actions-differ", "nvue"): "NVUE has no actions before 5.19",
    ("watchdog-drops-everything", "nvue"): "the switch is SONiC's",
    ("watchdog-mask-differs", "nvue"): "NVUE's watchdog has no mask",
    ("watchdog-never-restores", "nvue"): "NVUE has no time of restoration to leave out",
    ("watchdog-not-started", "nvue"): "the setting is SONiC's",
    ("watchdog-polls-too-slowly", "nvue"): "NVUE's detection is pollings times robustness",
    ("watchdog-without-counters", "nvue"): "NVUE counts all by itself",
    ("watchdog-without-detection-time", "nvue"): "NVUE's watchdog always has polling and robustness",
}
"""Faults that cannot be on a platform, and why; every other rule catches its own there, and is silent without it."""


@cache
def run(case: int, platform: str) -> tuple[str, str]:
    """Run an example on a platform: what is wrong with it, and why the platform cannot say it."""
    rule, example = CASES[case]
    setting = rule_examples.Setting(platform)
    try:
        setting.check_carried(example)
        failures = run_example(rule, example, setting.base, setting.views, setting.artifact, places)
    except rule_examples.CannotSay as reason:
        return "", str(reason)
    return "\n".join(map(str, failures)), ""


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("case", range(len(CASES)), ids=IDS)
def test_example(case: int, platform: str) -> None:
    failures, _ = run(case, platform)
    assert not failures, failures


def test_every_example_is_said_by_a_platform_and_what_others_cannot_is_written_down(update_golden: bool) -> None:
    lines = []
    for case, name in enumerate(IDS):
        reasons = {platform: run(case, platform)[1] for platform in PLATFORMS}
        assert not all(reasons.values()), f"{name}: no platform can say it: {reasons}"
        lines += [f"{name} on {platform}: {reason}" for platform, reason in reasons.items() if reason]
    text = "\n".join((f"{len(lines)} examples that a platform cannot say, and why.", "", *lines, ""))
    if update_golden:
        UNSAID.write_text(text)
    assert UNSAID.read_text() == text


def test_every_fault_that_a_platform_can_have_is_caught_there() -> None:
    said: dict[tuple[str, str], set[str]] = {
        (rule.name, platform): set() for rule in shipped() for platform in PLATFORMS
    }
    for case, (rule, example) in enumerate(CASES):
        for platform in PLATFORMS:
            if not run(case, platform)[1]:
                said[rule.name, platform].add(example.name.split("[")[0])
    assert {pair for pair, kinds in said.items() if "bad" not in kinds} == UNSAYABLE.keys()
    assert {pair for pair, kinds in said.items() if "good" not in kinds} == set()


def test_the_rules_of_this_release() -> None:
    assert [rule.name for rule in shipped()] == [
        "adaptive-routing-half-on",
        "adaptive-routing-misplaced",
        "adaptive-routing-not-on-port",
        "adaptive-routing-uneven",
        "adaptive-routing-unsupported",
        "address-without-interface-row",
        "alpha-outlier",
        "bfd-without-daemon",
        "bracket-reference",
        "breakout-not-on-model",
        "broken-condition",
        "cable-lengths-disagree",
        "cable-not-in-table",
        "cable-without-session",
        "cnp-in-lossless-class",
        "cnp-not-strict",
        "comma-port-list",
        "control-queue-unscheduled",
        "dangling-reference",
        "dual-tor-without-remap",
        "duplicate-address",
        "duplicate-key",
        "duplicate-router-id",
        "ecn-below-one-packet",
        "ecn-inert",
        "ecn-missing-on-rdma-queue",
        "ecn-never-before-pfc",
        "ecn-on-cnp-queue",
        "ecn-thresholds-inverted",
        "ecn-without-wred",
        "fabric-pfc-without-watchdog",
        "fec-mismatch",
        "file-beside-startup",
        "flat-headroom",
        "hash-seed-same-across-tiers",
        "headroom-below-formula",
        "headroom-exceeds-memory",
        "headroom-too-small",
        "hosts-behind-blackhole",
        "hosts-lost-by-one-failure",
        "hosts-not-announced",
        "ignored-table",
        "impossible-speed",
        "lane-mismatch",
        "lane-of-two-ports",
        "leaf-refuses-own-asn",
        "leaves-parted-by-two-failures",
        "link-announced",
        "link-pause-stops-every-class",
        "link-pause-with-pfc",
        "loop-rejection-off",
        "loopback-not-announced",
        "loopback-rdma",
        "lossless-half-configured",
        "lossless-pg-without-headroom",
        "lossless-pg-without-pfc",
        "lossless-priority-on-other-queue-or-pg",
        "lossless-queue-on-lossy-buffer",
        "lossless-queue-without-ecn",
        "lossless-without-cable-length",
        "lossy-class-in-lossless-queue",
        "lossy-limit-of-lossless-class",
        "macro-contradicted",
        "macro-mode-not-stated",
        "malformed-value",
        "management-announced",
        "management-in-fabric",
        "marking-threshold-ignored",
        "missing-field",
        "mixed-dialect",
        "mtu-mismatch",
        "multipath-missing",
        "name-not-known-to-tools",
        "network-not-in-table",
        "nic-cable-longer-than-stated",
        "nic-cnp-in-other-class",
        "nic-cnp-priority-unlike-switch",
        "nic-does-not-slow-down",
        "nic-dscp-not-in-pfc-priority",
        "nic-gid-not-routable",
        "nic-link-pause-with-pfc",
        "nic-lossless-priority-shares-buffer",
        "nic-mtu-above-switch",
        "nic-option-unknown",
        "nic-pfc-unlike-switch",
        "nic-roce-version-1",
        "nic-storm-unguarded",
        "nic-template-refused",
        "nic-templates-overlap",
        "nic-tos-not-rdma",
        "nic-tos-without-ecn",
        "nic-trusts-pcp",
        "odd-name",
        "one-path-preferred",
        "overlapping-keys",
        "overlapping-range",
        "pam4-without-autoneg",
        "part-without-breakout",
        "path-mtu-below-hosts",
        "path-to-hosts-filtered",
        "pause-sent-not-obeyed",
        "peer-link-with-pfc",
        "pfc-on-unintended-priority",
        "pfc-one-sided",
        "pfc-without-watchdog",
        "planned-port-down",
        "policy-not-there",
        "pool-exceeds-memory",
        "pool-without-memory",
        "port-lost-to-breakout",
        "port-not-on-model",
        "priority-group-in-egress-pool",
        "profile-without-one-threshold",
        "qos-differs-between-siblings",
        "qos-with-breakout",
        "queue-in-ingress-pool",
        "queue-without-traffic-class",
        "quota-not-programmed",
        "rdma-dscp-in-lossy-class",
        "rdma-mtu-above-port-mtu",
        "rdma-queue-strict",
        "rdma-queue-without-share",
        "rejected-row",
        "replaced-profile",
        "route-to-hosts-filtered",
        "routes-never-settle",
        "session-carries-nothing",
        "session-one-sided",
        "session-over-shut-port",
        "session-over-wrong-cable",
        "session-shut",
        "session-to-nobody",
        "session-with-wrong-asn",
        "session-without-family",
        "session-without-link-local",
        "session-without-policy",
        "session-without-subnet",
        "setting-of-another-chip",
        "setting-of-another-release",
        "shaper-on-lossless-queue",
        "shared-headroom-contradicted",
        "shared-headroom-too-small",
        "shares-exceed-whole",
        "speed-mismatch",
        "spine-asn-unique",
        "static-route-loop",
        "storage-in-rdma-class",
        "subnet-at-two-switches",
        "subnets-differ",
        "switch-drained",
        "threshold-too-large",
        "threshold-unlike-pool",
        "traffic-classes-share-lossless-group",
        "tunnel-derives-dscp",
        "tunnel-hides-dscp",
        "two-lossless-pools",
        "unintended-dscp-in-lossless-class",
        "unit-suffix",
        "unknown-command",
        "unknown-field",
        "unknown-setting",
        "unknown-table",
        "unused-profile",
        "uplinks-uneven",
        "utilization-threshold-unused",
        "valley-after-one-failure",
        "valley-path",
        "value-in-two-lists",
        "value-out-of-range",
        "watchdog-action-not-taken",
        "watchdog-actions-differ",
        "watchdog-condition-off",
        "watchdog-drops-everything",
        "watchdog-frees-stuck-queue",
        "watchdog-mask-differs",
        "watchdog-never-acts",
        "watchdog-never-restores",
        "watchdog-not-on-port",
        "watchdog-not-started",
        "watchdog-polls-too-slowly",
        "watchdog-slower-than-rdma-timeout",
        "watchdog-tier-order",
        "watchdog-without-counters",
        "watchdog-without-detection-time",
        "watchdog-without-pfc",
    ]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_sound_fabric_has_no_findings(platform: str) -> None:
    from nodrop.lint.engine import judge

    setting = rule_examples.Setting(platform)
    ((_, reading, _),) = setting.views(setting.base({}))
    verdict = judge(reading, shipped(), strictness="auditor")
    assert verdict.findings == ()
    assert verdict.unknown == ()
    assert verdict.rules == len(shipped())
