"""The vendor's macro by itself: exactly these findings, each justified from the macro's documented expansion.

Written down before the rules were run on it. The macro maps whole class-selector blocks to priorities (24-31 to 3,
48-55 to 6), sends and obeys pause on priority 3 with headroom for 100 m, marks ECN on traffic classes 0 and 3 from
150 kB, serves traffic class 6 (CNP) strictly and 0 and 3 by halves. It turns no watchdog on.

* pfc-without-watchdog on each of the 32 ports: PFC on priority 3, and `pfc-watchdog state` is disabled by default.
* macro-maps-block-of-dscps, one note: RDMA is DSCP 26, yet 24, 25 and 27 to 31 land in the lossless class, too.

All else that rules ask about is sound, or rests on what the file does not say: the model, speeds and cables.
"""

from pathlib import Path

import nodrop
from nodrop.model.subject import subject_text
from support.places import TESTS

FILE = TESTS / "platforms" / "nvue" / "roce_alone.yaml"


def test_the_macro_alone_has_these_faults_and_no_others() -> None:
    verdict = nodrop.lint(nodrop.read([str(FILE)]))
    found: dict[str, set[str]] = {}
    for finding in verdict.findings:
        found.setdefault(finding.rule, set()).add(subject_text(finding.subject))
    assert found == {
        "pfc-without-watchdog": {f"roce_alone/swp{panel}" for panel in range(1, 33)},
        "macro-maps-block-of-dscps": {"roce_alone"},
    }
    told = [finding.message for finding in verdict.findings if finding.rule == "macro-maps-block-of-dscps"]
    assert all("24-25, 27-31" in message for message in told)


def test_ports_with_unnumbered_sessions_may_lead_to_switches(tmp_path: Path) -> None:
    script = tmp_path / "leaf1.nv"
    session = "nv set router bgp autonomous-system 65001\nnv set vrf default router bgp neighbor swp2 type unnumbered\n"
    script.write_text("nv set interface swp1-2 type swp\nnv set qos roce mode lossless\n" + session)
    verdict = nodrop.lint(nodrop.read([str(script)]))
    rule = "pfc-without-watchdog"
    assert [subject_text(one.subject) for one in verdict.findings if one.rule == rule] == ["leaf1/swp1"]
    unknown = [(one.missing, one.subjects_count) for one in verdict.unknown if one.rule == rule]
    assert unknown == [("interface.side", 1)]
