"""Faults that SONiC's schema lets pass: each by a rule, at the row or field where it stands, and nothing else found.

The faults are those that the YANG models of 202505 accept; a sound fabric of two leaves and two spines gets one each.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from nodrop.model.subject import subject_text as subject_text
from support import sonic_faults as faulty

PORTS = ("Ethernet0", "Ethernet8", "Ethernet16", "Ethernet224", "Ethernet232", "Ethernet240", "Ethernet248")
PORT = PORTS[0]
BOUND = ("PORT_QOS_MAP", PORT)
PROFILE = ("BUFFER_PROFILE", "pg_lossless_400000_40m_profile")

Found = tuple[str, str, faulty.Path]
"""Rule, subject, and the path in the file that it points at."""


@dataclass(frozen=True)
class Fault:
    """One edit of leaf1's config_db.json, what is found, and the rules that speak because of it on other grounds."""

    changes: faulty.Changes
    found: tuple[Found, ...]
    follows: tuple[str, ...] = ()
    traditional: bool = False


def fault(changes: Any, rule: str, at: str, path: Any, *follows: str, traditional: bool = False) -> Fault:
    """A fault with one finding."""
    subject = f"leaf1/{at}" if at else "leaf1"
    return Fault(changes, ((rule, subject, tuple(path)),), follows, traditional)


def each(changes: Any, rule: str, at: str, table: str, key: str, field: str, *follows: str) -> Fault:
    """A fault in something that all ports share: one finding a port; `{}` stands for the port."""
    path = (table, key, field) if field else (table, key)
    found = ((rule, f"leaf1/{at}".format(port), tuple(step.format(port) for step in path)) for port in PORTS)
    return Fault(changes, tuple(found), follows)


UNLIKE = "qos-differs-between-siblings"

FAULTS: dict[str, Fault] = {
    "PFC_WD without detection_time": fault(
        {("PFC_WD", PORT, "detection_time"): None}, "watchdog-without-detection-time", PORT, ("PFC_WD", PORT)
    ),
    "PFC_WD without restoration_time": fault(
        {("PFC_WD", PORT, "restoration_time"): None}, "watchdog-never-restores", PORT, ("PFC_WD", PORT)
    ),
    "pfc_enable with no PFC_WD": fault(
        {("PFC_WD", PORT): None}, "pfc-without-watchdog", PORT, (*BOUND, "pfc_enable")
    ),
    "no pfcwd_sw_enable": fault(
        {(*BOUND, "pfcwd_sw_enable"): None}, "watchdog-mask-differs", PORT, (*BOUND, "pfc_enable")
    ),
    "pfcwd_sw_enable unlike pfc_enable": fault(
        {(*BOUND, "pfcwd_sw_enable"): "4"}, "watchdog-mask-differs", PORT, (*BOUND, "pfcwd_sw_enable")
    ),
    "lossless TC to PG 0": fault(
        {("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "3"): "0"},
        "pause-for-other-group", f"{PORT}/qos/tc_to_priority_group/3", ("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "3"),
    ),
    "lossless priority to PG 4": fault(
        {("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "AZURE", "3"): "4"},
        "pause-for-other-group", f"{PORT}/qos/pfc_to_priority_group/3",
        ("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "AZURE", "3"),
    ),
    "two TCs in the lossless PG": fault(
        {("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "4"): "3"},
        "traffic-classes-share-lossless-group", f"{PORT}/qos/tc_to_priority_group/4",
        ("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "4"),
    ),
    "a lossy TC in the lossless PG": fault(
        {("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "0"): "3"},
        "traffic-classes-share-lossless-group", f"{PORT}/qos/tc_to_priority_group/0",
        ("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "0"), "lossless-queue-without-ecn",
    ),
    "two TCs in the lossless PG, both used": each(
        {("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "1"): "3"},
        "storage-in-rdma-class", "{}", "TC_TO_PRIORITY_GROUP_MAP", "AZURE", "1", "lossless-queue-without-ecn",
    ),
    "lossless PG on a lossy profile": fault(
        {("BUFFER_PG", f"{PORT}|3", "profile"): "ingress_lossy_profile"},
        "lossless-pg-without-headroom", PORT, ("BUFFER_PG", f"{PORT}|3"),
    ),
    "lossless PG on a lossy profile, which buffermgrd replaces": fault(
        {("BUFFER_PG", f"{PORT}|3", "profile"): "ingress_lossy_profile"},
        "replaced-profile", PORT, ("BUFFER_PG", f"{PORT}|3", "profile"), traditional=True,
    ),
    "lossless queue on a lossy buffer": fault(
        {("BUFFER_QUEUE", f"{PORT}|3", "profile"): "q_lossy_profile"},
        "lossless-queue-on-lossy-buffer", f"{PORT}/qos/queues/3", ("BUFFER_QUEUE", f"{PORT}|3"),
    ),
    "overlapping PG ranges": fault(
        {("BUFFER_PG", f"{PORT}|3-4"): {"profile": "ingress_lossy_profile"}},
        "lossless-row-overlapped", PORT, ("BUFFER_PG", f"{PORT}|3-4"),
    ),
    "reversed PG range": fault(
        {("BUFFER_PG", f"{PORT}|4-3"): {"profile": "ingress_lossy_profile"}},
        "malformed-value", "", ("BUFFER_PG", f"{PORT}|4-3"),
    ),
    "QUEUE 99": fault(
        {("QUEUE", f"{PORT}|99"): {"scheduler": "scheduler.7"}}, "malformed-value", "", ("QUEUE", f"{PORT}|99")
    ),
    "QUEUE abc": fault(
        {("QUEUE", f"{PORT}|abc"): {"scheduler": "scheduler.7"}}, "malformed-value", "", ("QUEUE", f"{PORT}|abc")
    ),
    "queue 9": fault(
        {("QUEUE", f"{PORT}|9"): {"scheduler": "scheduler.7"}},
        "queue-without-traffic-class", f"{PORT}/qos/queues/9", ("QUEUE", f"{PORT}|9"),
    ),
    "SCHEDULER.priority": fault(
        {("SCHEDULER", "scheduler.3", "priority"): "1"},
        "rejected-row", "", ("SCHEDULER", "scheduler.3", "priority"), "rdma-queue-without-share",
    ),
    "WRED above 2^31": fault(
        {("WRED_PROFILE", "AZURE_LOSSLESS", "green_max_threshold"): "2147483648"},
        "threshold-too-large", "", ("WRED_PROFILE", "AZURE_LOSSLESS", "green_max_threshold"),
        "ecn-colors-differ", "ecn-maximum-past-pause",
    ),
    "WRED min without max": each(
        {("WRED_PROFILE", "AZURE_LOSSLESS", "green_max_threshold"): None},
        "ecn-thresholds-inverted", "{}/qos/queues/3", "WRED_PROFILE", "AZURE_LOSSLESS", "", "ecn-inert",
    ),
    "both thresholds": fault(
        {("BUFFER_PROFILE", "egress_lossless_profile", "static_th"): "60817392"},
        "profile-without-one-threshold", "", ("BUFFER_PROFILE", "egress_lossless_profile", "static_th"), UNLIKE,
    ),
    "neither threshold": fault(
        {("BUFFER_PROFILE", "egress_lossless_profile", "dynamic_th"): None},
        "profile-without-one-threshold", "", ("BUFFER_PROFILE", "egress_lossless_profile"),
    ),
    "static_th on a dynamic pool": fault(
        {
            ("BUFFER_PROFILE", "egress_lossless_profile", "dynamic_th"): None,
            ("BUFFER_PROFILE", "egress_lossless_profile", "static_th"): "60817392",
        },
        "threshold-unlike-pool", "", ("BUFFER_PROFILE", "egress_lossless_profile", "static_th"),
    ),
    "lossless profile on an egress pool": Fault(
        {(*PROFILE, "pool"): "egress_lossless_pool"},
        tuple(
            ("priority-group-in-egress-pool", f"leaf1/{port}/qos/priority_groups/3", (*PROFILE, "pool"))
            for port in PORTS
        ),
        (),
        traditional=True,
    ),
    "pool bigger than the chip": fault(
        {("BUFFER_POOL", "egress_lossless_pool", "size"): "67108865"},
        "pool-exceeds-memory", "@buffer_pools/egress_lossless", ("BUFFER_POOL", "egress_lossless_pool", "size"),
    ),
    "two ports on one lane": fault(
        {("PORT", "Ethernet8", "lanes"): "7,8,9,10,11,12,13,14"},
        "lane-of-two-ports", "Ethernet8", ("PORT", "Ethernet8", "lanes"),
    ),
    "speed 123": fault(
        {("PORT", PORT, "speed"): "123"}, "impossible-speed", PORT, ("PORT", PORT, "speed"),
        "ecn-same-at-every-speed", "speed-mismatch",
    ),
    "admin-down lossless port": fault(
        {("PORT", PORT, "admin_status"): "down"}, "planned-port-down", PORT, ("PORT", PORT, "admin_status")
    ),
    "cable 0m": fault(
        {("CABLE_LENGTH", "AZURE", PORT): "0m"},
        "lossless-without-cable-length", PORT, ("CABLE_LENGTH", "AZURE", PORT),
    ),
    "cable missing": fault(
        {("CABLE_LENGTH", "AZURE", PORT): None}, "lossless-without-cable-length", PORT, ("PORT", PORT)
    ),
    "cable 0m, traditional": fault(
        {("CABLE_LENGTH", "AZURE", PORT): "0m", ("BUFFER_PG", f"{PORT}|3"): None},
        "lossless-without-cable-length", PORT, ("CABLE_LENGTH", "AZURE", PORT), "cable-lengths-disagree",
        traditional=True,
    ),
    "empty DSCP key": fault(
        {("DSCP_TO_TC_MAP", "AZURE", ""): "3"}, "malformed-value", "", ("DSCP_TO_TC_MAP", "AZURE", "")
    ),
    "unmodelled table": fault({("LLR_PORT", PORT): {"llr_mode": "static"}}, "unknown-table", "", ("LLR_PORT",)),
    "BIG_RED_SWITCH": fault(
        {("PFC_WD", "GLOBAL", "BIG_RED_SWITCH"): "enable"},
        "watchdog-drops-everything", "", ("PFC_WD", "GLOBAL", "BIG_RED_SWITCH"),
    ),
    "unknown field in PFC_WD": fault(
        {("PFC_WD", PORT, "storm_time"): "1"},
        "rejected-row", PORT, ("PFC_WD", PORT, "storm_time"), "pfc-without-watchdog",
    ),
    "counters of the watchdog off": fault(
        {("FLEX_COUNTER_TABLE", "PFCWD", "FLEX_COUNTER_STATUS"): "disable"},
        "watchdog-without-counters", "", ("FLEX_COUNTER_TABLE", "PFCWD", "FLEX_COUNTER_STATUS"),
    ),
    "detection of less than two pollings": fault(
        {("PFC_WD", PORT, "detection_time"): "199"},
        "watchdog-detects-too-soon", PORT, ("PFC_WD", PORT, "detection_time"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_where_it_stands_and_nothing_else_is(name: str) -> None:
    one = FAULTS[name]
    text, reading = faulty.read(one.changes, one.traditional)
    findings = faulty.located(reading)
    rules = {rule for rule, _, _ in one.found}
    seen = [
        (found.rule, subject_text(found.subject), found.located.file, found.located.span.line)
        for found in findings
        if found.rule in rules and found.located and found.located.span
    ]
    expected = [(rule, at, "leaf1/config_db.json", faulty.line_of(text, path)) for rule, at, path in one.found]
    assert Counter(seen) == Counter(expected)
    assert {found.rule for found in findings} - rules == set(one.follows)
    assert {found.device for found in findings} <= {"leaf1", None}


def test_an_unscheduled_queue_follows_from_a_rejected_scheduler() -> None:
    _, reading = faulty.read({("SCHEDULER", "scheduler.3", "priority"): "1"})
    queue = next(one for one in reading.fabric.device("leaf1").interfaces[0].qos.queues if one.index == 3)
    assert queue.scheduler is None
    assert queue.wred is not None


WRED_FLAG = ("WRED_PROFILE", "AZURE_LOSSLESS", "wred_green_enable")


@pytest.mark.parametrize(
    ("flag", "rule", "severity", "path"),
    [(None, "ecn-without-wred", "warning", WRED_FLAG[:2]), ("false", "ecn-with-wred-off", "note", WRED_FLAG)],
)
def test_ecn_all_without_wred_is_legal_to_the_schema_and_told(
    flag: str | None, rule: str, severity: str, path: faulty.Path
) -> None:
    text, reading = faulty.read({WRED_FLAG: flag})
    found = {
        (one.rule, one.severity, one.located.span.line)
        for one in faulty.located(reading)
        if one.located and one.located.span
    }
    assert found == {(rule, severity, faulty.line_of(text, path))}


@pytest.mark.parametrize("flag", [None, "false"])
def test_thresholds_that_stand_for_off_need_no_wred(flag: str | None) -> None:
    off = {f"green_{end}_threshold": "266338050" for end in ("min", "max")}
    row = {"ecn": "ecn_green", "green_drop_probability": "0", **off}
    row |= {} if flag is None else {"wred_green_enable": flag}
    _, reading = faulty.read({("WRED_PROFILE", "OFF"): row, ("QUEUE", f"{PORT}|0", "wred_profile"): "OFF"})
    assert [one.rule for one in faulty.located(reading)] == []


@pytest.mark.parametrize("traditional", [False, True])
def test_the_fabric_without_a_fault_has_no_findings(traditional: bool) -> None:
    _, reading = faulty.read({}, traditional)
    verdict = faulty.verdict(reading)
    assert (verdict.findings, verdict.unknown, verdict.problems) == ((), (), ())


@pytest.mark.parametrize(
    ("traditional", "profile", "effect"),
    [
        (False, PROFILE[1], " and gets no lossless priority group"),
        (True, "NULL", " and gets no lossless priority group"),
        (True, None, " and gets no lossless priority group"),
        (True, PROFILE[1], ""),
    ],
)
def test_a_part_without_admin_status_has_the_group_that_a_row_states(
    traditional: bool, profile: str | None, effect: str
) -> None:
    """In the traditional model a row of BUFFER_PG that names a profile with headroom is there regardless."""
    part = {"index": "1", "lanes": "601", "speed": "100000"}
    changes: dict[faulty.Path, Any] = {
        ("PORT", "Ethernet512"): part,
        ("PORT_QOS_MAP", "Ethernet512"): {"pfc_enable": "3"},
    }
    if profile is not None:
        changes["BUFFER_PG", "Ethernet512|3"] = {"profile": profile}
    _, reading = faulty.read(changes, traditional)
    (finding,) = [row for row in faulty.verdict(reading).findings if row.rule == "part-without-admin-status"]
    assert finding.message == f"Ethernet512 has PFC on 3 and no admin_status: the port is shut{effect}"
    assert finding.fix is not None
    assert "Ethernet512" not in finding.fix.text  # the fix stands for all ports of one cause
