"""Profiles: each that is shipped is what its vendor's own configuration has, and a site's own is read like them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from nodrop.context.profile import load_profile, loads_profile, shipped_profile_names
from nodrop.engine.vocabulary.profile import ecn_differences_from_profile, watchdog_differences_from_profile
from nodrop.errors import InputProblems
from nodrop.model.profile import Band, EcnBand, Profile, ShareBand, WatchdogBand
from nodrop.model.qos import PfcWatchdog, Queue, WredColor, WredProfile
from nodrop.model.states import UNKNOWN, UnknownFact
from nodrop.resources import resource_folder
from support.command import built, nodrop
from support.recommended import put, said

RULES = ("ecn-outside-profile", "watchdog-outside-profile", "share-outside-profile")
CONFORMING = {
    "nvidia": ("macro", ()),
    "sonic": ("qos-reload", ("--assume", "rdma=3")),
    "sonic-lossy": ("lossy", ()),
    "dell": ("dell", ()),
}
"""Of each profile that is shipped, what its vendor sets or recommends, restated in tests/rules/recommended."""


def outside(where: Path | str, *options: str) -> dict[str, set[str]]:
    """By rule about profiles, what it says in each of its findings."""
    document = json.loads(nodrop("lint", where, *options, "--format", "json", "--select", ",".join(RULES)).out)
    assert document["problems"] == []
    found: dict[str, set[str]] = {}
    for finding in document["findings"]:
        found.setdefault(finding["rule"], set()).add(finding["message"])
    return found


def test_every_profile_that_is_shipped_is_held_against_its_vendor() -> None:
    assert shipped_profile_names() == tuple(sorted(CONFORMING))


@pytest.mark.parametrize("name", shipped_profile_names())
def test_what_a_vendor_sets_passes_its_own_profile_and_no_other(name: str, tmp_path: Path) -> None:
    recommended, options = CONFORMING[name]
    row = said(recommended)
    here = put(tmp_path, row)
    assert outside(here, *options, "--profile", name) == {}
    others = {other for other in shipped_profile_names() if outside(here, *options, "--profile", other)}
    assert others >= set(shipped_profile_names()) - {name, "sonic-lossy", "dell"}, (
        "bands that everything passes say nothing"
    )
    assert outside(here, *options) == {}, "without a profile the rules are silent"


@pytest.mark.parametrize("name", shipped_profile_names())
def test_each_row_of_a_profile_names_its_source_and_bounds_something(name: str) -> None:
    profile = load_profile(name)
    rows = (*profile.ecn, *profile.watchdog, *profile.shares)
    assert rows
    assert all(len(row.source) > 20 for row in rows)


@pytest.mark.parametrize("name", ["sonic", "dell"])
def test_the_watchdog_that_a_vendor_starts_passes(name: str, tmp_path: Path) -> None:
    here = tmp_path / "build"
    built(resource_folder("intents") / "two-by-two.yaml", here)
    path = here / "leaf1/config_db.json"
    config = json.loads(path.read_text())
    timers = {"sonic": ("200", "200", "200"), "dell": ("200", "400", "100")}[name]
    for port, row in config["PFC_WD"].items():
        row.update(
            {"POLL_INTERVAL": timers[2]}
            if port == "GLOBAL"
            else {"detection_time": timers[0], "restoration_time": timers[1], "action": "drop"}
        )
    path.write_text(json.dumps(config))
    assert of_leaf1(here, name) == []
    row = config["PFC_WD"]["Ethernet0"]
    row["action"] = "forward"
    path.write_text(json.dumps(config))
    (message,) = of_leaf1(here, name)
    assert f"the watchdog of Ethernet0 has action forward instead of drop (profile {name}: " in message


def of_leaf1(here: Path, profile: str) -> list[str]:
    done = nodrop("lint", here, "--profile", profile, "--format", "json", "--select", RULES[1])
    return [one["message"] for one in json.loads(done.out)["findings"] if one["device"] == "leaf1"]


SITE = """\
about: what we run
ecn:
  - speeds: [800G, 100G]
    min: 1kB
    source: a row for other ports
  - min: 140kB to 160kB
    max: 2MB to 3MB
    probability: 100%
    source: change request 17
  - min: 1B
    source: never reached
watchdog:
  - side: hosts
    detection: 200ms
    restoration: 300ms to 1s
    polling: 100ms
    actions: [drop, alert]
    source: change request 18
  - side: fabric
    detection: 1s to 2s
    source: change request 19
shares:
  - {purpose: rdma, share: 60% to 70%, source: change request 20}
  - {purpose: storage, share: 5% to 10%, source: change request 21}
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("site.yaml").write_text(SITE)
    built(resource_folder("intents") / "two-by-two.yaml", tmp_path / "build")
    return tmp_path


def test_a_site_has_its_own_bands_and_findings_name_number_band_and_source(site: Path) -> None:
    found = outside("build", "--profile", "site.yaml")
    ends = {rule: {message.partition(" ")[2] for message in messages} for rule, messages in found.items()}
    assert {
        message.replace("Ethernet0", "PORT") for message in found["ecn-outside-profile"] if "Ethernet0 " in message
    } == {"queue 3 of PORT reaches full marking at 1.5 MB instead of 2 MB to 3 MB (profile site: change request 17)"}
    assert ends["share-outside-profile"] == {
        "gives storage 20 % instead of 5 % to 10 % (profile site: change request 21)"
    }
    sides = {message.partition("(profile")[2] for message in found["watchdog-outside-profile"]}
    assert sides == {" site: change request 19)"}
    late = "detects after 600 ms instead of 1000 ms to 2000 ms (profile site: change request 19)"
    assert f"the watchdog of Ethernet224 {late}" in found["watchdog-outside-profile"]


def test_an_intent_is_held_against_a_profile_too(site: Path) -> None:
    intent = resource_folder("intents") / "two-by-two.yaml"
    assert outside(str(intent), "--profile", "site.yaml") == outside("build", "--profile", "site.yaml")


def test_what_a_profile_says_is_what_its_rows_say() -> None:
    profile = loads_profile(SITE.encode(), "site.yaml", "site")
    assert profile.name == "site"
    assert profile.ecn[:2] == (
        EcnBand(speeds_mbps=(800_000, 100_000), min_bytes=Band(low=1000, high=1000), source="a row for other ports"),
        EcnBand(
            min_bytes=Band(low=140_000, high=160_000),
            max_bytes=Band(low=2_000_000, high=3_000_000),
            probability_percent=Band(low=100, high=100),
            source="change request 17",
        ),
    )
    assert profile.watchdog[0] == WatchdogBand(
        side="host",
        detection_ms=Band(low=200, high=200),
        restoration_ms=Band(low=300, high=1000),
        polling_ms=Band(low=100, high=100),
        actions=("drop", "alert"),
        source="change request 18",
    )
    assert profile.shares[0] == ShareBand(purpose="rdma", percent=Band(low=60, high=70), source="change request 20")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("min: 1kB", "mni: 1kB", "4:5: ecn.0.mni: unknown key mni (did you mean min?)"),
        ("min: 1kB", "min: 1 kB",
         "4:10: ecn.0.min: 1 kB; expected 150kB or 150kB to 300kB, a number or the least and the greatest"),
        ("300ms to 1s", "1s to 300ms",
         "15:18: watchdog.0.restoration: 1s to 300ms, which runs backwards; expected 300ms to 1s"),
        ("side: hosts", "side: host",
         "13:11: watchdog.0.side: host; expected hosts or fabric (did you mean hosts?)"),
        ("[drop, alert]", "[dorp]",
         "17:15: watchdog.0.actions.0: dorp; expected drop, forward or alert (did you mean drop?)"),
        ("purpose: rdma", "purpose: rmda",
         "23:15: shares.0.purpose: rmda; expected rdma, cnp, storage, inband, control or default (did you mean rdma?)"),
        ("    source: change request 18\n", "",
         "13:5: watchdog.0: source is missing (who says so: a document, a paper, a file, a decision of the site)"),
        ("    detection: 1s to 2s\n", "",
         "19:5: watchdog.1: no band; expected at least one of detection, restoration, polling, actions"),
        ("watchdog:", "watchdogs:", "12:1: watchdogs: unknown key watchdogs (did you mean watchdog?)"),
    ],
)  # fmt: skip
def test_each_mistake_is_told_at_its_place(old: str, new: str, expected: str) -> None:
    assert SITE.count(old) == 1
    with pytest.raises(InputProblems) as refused:
        loads_profile(SITE.replace(old, new).encode(), "site.yaml", "site")
    assert [str(problem) for problem in refused.value.problems] == [f"site.yaml:{expected}"]


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("nvida", "nvida: no such file or folder; expected a file, or a profile that is shipped: "
                  "dell, nvidia, sonic, sonic-lossy (did you mean `nvidia`?)"),
        ("build", "build: a folder; expected a file, or a profile that is shipped: dell, nvidia, sonic, sonic-lossy"),
        ("", '"": an empty path; expected a file, or a profile that is shipped: dell, nvidia, sonic, sonic-lossy'),
    ],
)  # fmt: skip
def test_what_is_no_profile_is_an_error(named: str, expected: str, site: Path) -> None:
    done = nodrop("lint", "build", "--profile", named)
    assert (done.code, done.out, done.err) == (2, "", f"error: {expected}\n")


def test_what_a_profile_goes_by_is_asked_for_where_nobody_says_it() -> None:
    profile = loads_profile(SITE.encode(), "site.yaml", "site")
    everywhere = replace(profile, ecn=profile.ecn[1:], watchdog=(replace(profile.watchdog[0], side=None),))
    queue, watchdog = (
        two_by_two_queue(),
        PfcWatchdog(priorities=(3,), detection_ms=200, restoration_ms=300, action=None),
    )
    with pytest.raises(UnknownFact, match=r"interface\.speed_mbps"):
        ecn_differences_from_profile(profile, UNKNOWN, queue)
    assert "2 MB to 3 MB" in ecn_differences_from_profile(everywhere, UNKNOWN, queue)
    with pytest.raises(UnknownFact, match=r"interface\.side"):
        watchdog_differences_from_profile(profile, UNKNOWN, 100, watchdog)
    assert watchdog_differences_from_profile(everywhere, UNKNOWN, 100, watchdog) == ""
    with pytest.raises(UnknownFact, match=r"device\.watchdog_polling_ms"):
        watchdog_differences_from_profile(everywhere, UNKNOWN, UNKNOWN, watchdog)
    assert watchdog_differences_from_profile(profile, None, 100, replace(watchdog, detection_ms=5000)) == "", (
        "a port without a cable"
    )


def two_by_two_queue() -> Queue:
    green = WredColor(min_bytes=150_000, max_bytes=1_500_000, probability_percent=100, enabled=True)
    return Queue(index=3, wred=WredProfile(ecn_colors=("green",), green=green, yellow=green, red=green))


@pytest.mark.parametrize(
    ("number", "shown"),
    [(1_048_577, "1048577 bytes"), (1_048_576, "1 MiB"), (163 * 1024, "163 KiB"), (40_000, "40 kB")],
)
def test_bytes_are_told_exactly(number: int, shown: str) -> None:
    profile = Profile(name="p", ecn=(EcnBand(min_bytes=Band(low=number, high=number), source="s"),))
    assert (
        ecn_differences_from_profile(profile, 1, two_by_two_queue())
        == f"marks from 150 kB instead of {shown} (profile p: s)"
    )
