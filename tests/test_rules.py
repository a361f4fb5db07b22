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
from nodrop.lint.setting import CannotSay, Setting
from nodrop.locate import locate
from nodrop.platforms.examples import NAMES, TIERS

UNSAID = Path(__file__).parent / "unsaid_examples.txt"
PLATFORMS = list(TIERS)
OTHERS = [pytest.param(name, marks=pytest.mark.slow) for name in PLATFORMS if name != NAMES]
"""Platforms besides the one in whose words examples are written."""
CASES = [(rule, example) for rule in shipped() for example in rule.examples]
IDS = [f"{rule.name}-{example.name}" for rule, example in CASES]


def places(findings: Iterable[Finding], reading: Reading) -> Iterable[Finding]:
    """Fill in where findings stand."""
    return locate(findings, reading, platforms.where).findings


UNSAYABLE = {(rule.name, platform) for rule in shipped() for platform in rule.unseen}
"""Faults that cannot be on a platform, as their rules say; every other rule catches its own there."""


@cache
def run(case: int, platform: str) -> tuple[str, str]:
    """Run an example on a platform: what is wrong with it, and why the platform cannot say it."""
    rule, example = CASES[case]
    setting = Setting(platform)
    try:
        setting.check_carried(example)
        failures = run_example(rule, example, setting.base, setting.views, setting.artifact, places)
    except CannotSay as reason:
        return "", str(reason)
    return "\n".join(map(str, failures)), ""


@pytest.mark.parametrize("platform", [NAMES, *OTHERS])
@pytest.mark.parametrize("case", range(len(CASES)), ids=IDS)
def test_example(case: int, platform: str) -> None:
    failures, _ = run(case, platform)
    assert not failures, failures


@pytest.mark.slow
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


@pytest.mark.slow
def test_every_fault_that_a_platform_can_have_is_caught_there() -> None:
    said: dict[tuple[str, str], set[str]] = {
        (rule.name, platform): set() for rule in shipped() for platform in PLATFORMS
    }
    for case, (rule, example) in enumerate(CASES):
        for platform in PLATFORMS:
            if not run(case, platform)[1]:
                said[rule.name, platform].add(example.kind)
    assert {pair for pair, kinds in said.items() if "bad" not in kinds} == UNSAYABLE
    assert {pair for pair, kinds in said.items() if "good" not in kinds} == set()


def test_the_rules_of_this_release() -> None:
    assert [rule.name for rule in shipped()] == [
        "adaptive-routing-half-on",
        "adaptive-routing-misplaced",
        "adaptive-routing-not-on-port",
        "adaptive-routing-uneven",
        "adaptive-routing-unsupported",
        "address-seen-twice",
        "address-without-interface-row",
        "alpha-outlier",
        "autoneg-mismatch",
        "bfd-one-sided",
        "bfd-without-daemon",
        "bgp-tables-unread",
        "bracket-reference",
        "breakout-not-on-model",
        "broken-condition",
        "cable-lengths-disagree",
        "cable-not-in-table",
        "cable-without-session",
        "class-changes-along-path",
        "cnp-in-default-class",
        "cnp-in-lossless-class",
        "cnp-not-strict",
        "cnp-rate-too-low",
        "cnp-with-bulk-data",
        "comma-port-list",
        "control-queue-unscheduled",
        "control-shares-cnp-queue",
        "counters-not-exported",
        "counters-polled-slowly",
        "dangling-reference",
        "default-route-at-spine",
        "destination-not-reached",
        "dscp-map-incomplete",
        "dscp-rewritten",
        "dual-tor-without-remap",
        "duplicate-address",
        "duplicate-key",
        "duplicate-router-id",
        "ecn-below-one-packet",
        "ecn-colors-differ",
        "ecn-inert",
        "ecn-maximum-past-pause",
        "ecn-missing-on-rdma-queue",
        "ecn-never-before-pfc",
        "ecn-on-cnp-queue",
        "ecn-outside-profile",
        "ecn-same-at-every-speed",
        "ecn-thresholds-inverted",
        "ecn-with-wred-off",
        "ecn-without-wred",
        "equal-paths-not-seen",
        "expired-suppression",
        "fabric-pfc-without-watchdog",
        "failure-not-survived",
        "fec-mismatch",
        "file-beside-startup",
        "flat-headroom",
        "full-size-packet-lost",
        "hash-seed-same-across-tiers",
        "hash-without-source-port",
        "hashed-password-in-configuration",
        "headroom-below-formula",
        "headroom-exceeds-memory",
        "headroom-on-shut-port",
        "headroom-oversubscribed",
        "headroom-too-small",
        "host-on-one-leaf",
        "hosts-behind-blackhole",
        "hosts-lost-by-one-failure",
        "hosts-not-announced",
        "ignored-table",
        "impossible-speed",
        "lane-mismatch",
        "lane-of-two-ports",
        "leaf-oversubscribed",
        "leaf-refuses-own-asn",
        "leaves-parted-by-two-failures",
        "line-not-taken",
        "link-announced",
        "link-not-seen",
        "link-pause-stops-every-class",
        "link-pause-with-pfc",
        "link-training-unlike-medium",
        "loop-rejection-off",
        "loopback-not-announced",
        "loopback-rdma",
        "lossless-cable-past-300-m",
        "lossless-class-changes-along-path",
        "lossless-group-in-lossy-pool",
        "lossless-half-configured",
        "lossless-pg-without-headroom",
        "lossless-pg-without-pfc",
        "lossless-pool-below-plan",
        "lossless-priority-on-other-queue-or-pg",
        "lossless-queue-limited",
        "lossless-queue-on-lossy-buffer",
        "lossless-queue-without-ecn",
        "lossless-vlan-across-switches",
        "lossless-without-cable-length",
        "lossy-class-in-lossless-queue",
        "lossy-limit-of-lossless-class",
        "lossy-pool-eats-headroom",
        "macro-contradicted",
        "macro-mode-not-stated",
        "malformed-suppression",
        "malformed-value",
        "management-announced",
        "management-in-fabric",
        "management-without-vrf",
        "marking-that-nics-ignore",
        "marking-threshold-ignored",
        "missing-field",
        "mixed-dialect",
        "mtu-mismatch",
        "multipath-missing",
        "name-not-known-to-tools",
        "name-of-two-devices",
        "name-unlike-file",
        "neighbor-unlike-cable",
        "neighbors-outlive-mac-entries",
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
        "nic-mtu-below-rdma-mtu",
        "nic-option-unknown",
        "nic-pfc-unlike-switch",
        "nic-roce-version-1",
        "nic-storm-unguarded",
        "nic-template-refused",
        "nic-templates-overlap",
        "nic-tos-not-rdma",
        "nic-tos-without-ecn",
        "nic-trusts-pcp",
        "nics-coalesce-cnps-unlike",
        "nics-in-one-subnet",
        "no-syslog-server",
        "not-recovered",
        "odd-name",
        "one-path-preferred",
        "overlapping-keys",
        "overlapping-range",
        "packets-lost-since-build",
        "pam4-without-autoneg",
        "pam4-without-rs-fec",
        "part-without-breakout",
        "path-mtu-below-hosts",
        "path-to-hosts-filtered",
        "pause-sent-not-obeyed",
        "peer-link-with-pfc",
        "pfc-in-lossy-fabric",
        "pfc-on-outside-port",
        "pfc-on-unintended-priority",
        "pfc-one-sided",
        "pfc-with-macsec",
        "pfc-without-watchdog",
        "planned-port-down",
        "policy-not-there",
        "pool-exceeds-memory",
        "pool-without-memory",
        "port-channel-members-differ",
        "port-lost-to-breakout",
        "port-not-on-model",
        "port-trusts-pcp",
        "port-without-qos-maps",
        "priority-group-in-egress-pool",
        "profile-of-another-speed",
        "profile-smaller-than-headroom",
        "profile-without-one-threshold",
        "qos-differs-between-siblings",
        "qos-with-breakout",
        "queue-in-ingress-pool",
        "queue-without-traffic-class",
        "quota-not-programmed",
        "rail-on-wrong-leaf",
        "rdma-dscp-in-lossy-class",
        "rdma-mtu-above-port-mtu",
        "rdma-queue-strict",
        "rdma-queue-without-share",
        "rdma-share-below-plan",
        "red-drops-rdma",
        "rejected-row",
        "reordering-that-nics-refuse",
        "replaced-profile",
        "route-to-hosts-filtered",
        "routes-never-settle",
        "secret-in-configuration",
        "service-outside-management-vrf",
        "session-carries-nothing",
        "session-fails-slowly",
        "session-never-given-up",
        "session-not-seen-up",
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
        "share-outside-profile",
        "shared-headroom-contradicted",
        "shared-headroom-too-small",
        "shares-exceed-whole",
        "speed-mismatch",
        "spine-asn-unique",
        "static-profile-in-dynamic-model",
        "static-route-loop",
        "storage-in-rdma-class",
        "storm-counters-off",
        "subnet-at-two-switches",
        "subnets-differ",
        "suppression-without-reason",
        "switch-drained",
        "threshold-too-large",
        "threshold-unlike-pool",
        "too-few-ntp-servers",
        "too-many-lossless-classes",
        "too-many-strict-queues",
        "traffic-classes-share-lossless-group",
        "tunnel-derives-dscp",
        "tunnel-hides-dscp",
        "two-lossless-pools",
        "unintended-dscp-in-lossless-class",
        "unit-suffix",
        "unknown-command",
        "unknown-field",
        "unknown-rule-in-suppression",
        "unknown-setting",
        "unknown-table",
        "unmarkable-traffic-in-marked-queue",
        "unused-profile",
        "unused-suppression",
        "uplinks-uneven",
        "utilization-threshold-unused",
        "validator-says-nothing",
        "validators-disagree",
        "valley-after-one-failure",
        "valley-path",
        "value-in-two-lists",
        "value-out-of-range",
        "vlan-floods-lossless-class",
        "watchdog-action-not-taken",
        "watchdog-actions-differ",
        "watchdog-condition-off",
        "watchdog-detects-too-soon",
        "watchdog-drops-everything",
        "watchdog-flaps-on-chip",
        "watchdog-frees-stuck-queue",
        "watchdog-mask-differs",
        "watchdog-never-acts",
        "watchdog-never-restores",
        "watchdog-not-on-port",
        "watchdog-not-started",
        "watchdog-only-alerts",
        "watchdog-outside-profile",
        "watchdog-polls-too-slowly",
        "watchdog-restores-too-soon",
        "watchdog-slower-than-rdma-timeout",
        "watchdog-tier-order",
        "watchdog-time-between-pollings",
        "watchdog-without-counters",
        "watchdog-without-detection-time",
        "watchdog-without-pfc",
        "xon-without-hysteresis",
    ]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_sound_fabric_has_no_findings(platform: str) -> None:
    from nodrop.lint.engine import judge

    setting = Setting(platform)
    (view,) = setting.views(setting.base({}))
    reading = view.reading
    verdict = judge(reading, shipped(), strictness="auditor")
    assert verdict.findings == ()
    assert verdict.unknown == ()
    assert verdict.rules == sum("lossless" in rule.modes for rule in shipped())
