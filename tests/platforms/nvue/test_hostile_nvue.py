"""Whatever stands in a file, it is read or is a problem, in time: nothing crashes, nothing runs away."""

import re
import time
from random import Random

import pytest

from nodrop import platforms
from nodrop.model.subject import parse_subject
from support.nvue_startup import FILE, read, state
from support.places import TESTS

FULL = (TESTS / "platforms" / "nvue" / "full.yaml").read_text()
SECONDS = 10
"""Of processor time: what else runs on the machine does not count."""
SUBJECTS = ("", "swp1/mtu_bytes", "swp1/qos/queues/3/wred", "swp2/qos/dscp_to_tc/26", "@bgp/asn", "@ntp_servers/0")


def survives(text: str) -> None:
    """The text is read, or is a problem that says why; places are found or not."""
    began = time.process_time()
    reading = read(text)
    assert reading.device.name
    assert reading.problems or reading.device.platform == "nvue"
    find = platforms.make_place_finder("nvue", {FILE: text.encode(errors="surrogatepass")})
    for subject in SUBJECTS:
        find(("sw1", *parse_subject(subject)))
    assert time.process_time() - began < SECONDS


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "null",
        "5",
        "- 5",
        "- set:",
        "- set: 5",
        "- set: []",
        "- header: 5",
        "- header: {model: [], version: {}}\n- set: {interface: {swp1: {}}}",
        "- set: {interface: 5, qos: 5, router: 5, vrf: 5, system: 5, service: 5}",
        "- set: {interface: [swp1], qos: [roce], router: [], vrf: [], system: [], service: []}",
        "- set: {interface: {swp1: 5, swp2: [], swp3: null, swp4: true}}",
        "- set: {interface: {swp1: {link: 5, ip: [], qos: [], vrf: {}, description: []}}}",
        "- set: {interface: {swp1: {link: {state: [], mtu: {}, speed: [], breakout: {5: []}, fec: {}}}}}",
        "- set: {qos: {roce: [], mapping: [], pfc: {default-global: []}, traffic-pool: 5, pfc-watchdog: x}}",
        "- set: {qos: {mapping: {default-global: {dscp: [1], pcp: 5, trust: {}}}, remark: {default-global: 5}}}",
        "- set: {qos: {congestion-control: {default-global: {traffic-class: {0-9: 5, x: {}, 3: {ecn: []}}}}}}",
        "- set: {qos: {egress-scheduler: {default-global: {traffic-class: {0: [], 99999999999: {}}}}}}",
        "- set: {router: {bgp: {autonomous-system: x}, policy: {route-map: {A: {rule: {x: 5, 99999999: {}}}}}}}",
        "- set: {vrf: {default: {router: {bgp: {autonomous-system: 1, neighbor: {swp1-9999: {}}, peer-group: 5}}}}}",
        "- set: {vrf: {default: {router: {static: {x: 5, y: {via: []}}}, loopback: 5}}}",
        "- set: {system: {hostname: [], forwarding: {hash-seed: -1, packet-trim: {state: x, remark: {dscp: 99}}}}}",
        "- set: {system: {ntp: 5, telemetry: {export: {otlp: {state: on, grpc: {destination: {a: {port: x}}}}}}}}",
        "- unset: {interface: {}}",
        "- unset: 5",
        "- set: {interface: {swp1: {}}}\n- unset: {interface: {swp1-2: {link: {mtu: {}}}, lo: 5}}",
        "- bogus: {}",
        "set: {interface: {swp1: {}}}",
        "nv set",
        "nv set \\",
        "nv set 'interface",
        'nv set "',
        "nv unset interface swp1\nnv set interface",
        "nv set qos roce\nnv unset qos",
        "nv set " + "a " * 5000,
        "nv set interface swp1 " + "link " * 5000,
    ],
)
def test_odd_shapes(text: str) -> None:
    survives(text)


@pytest.mark.parametrize(
    "key",
    [
        "swp1-999999999",
        "swp9-1",
        "swp1-8192",
        "swp-",
        "-",
        ",",
        "swp1,,2",
        "swp1-2-3",
        "swp1s0-99999",
        "swp0",
        "swp00001",
        "swp" + "9" * 400,
        ",".join(["swp1-4000"] * 50),
        "\u0663",
        "a" * 5000,
    ],
)
def test_odd_lists_and_ranges(key: str) -> None:
    survives(state(f"interface:\n  ? {key}\n  : {{type: swp}}"))
    survives(
        state(f"qos:\n  mapping:\n    default-global:\n      dscp:\n        ? {key}\n        : {{switch-priority: 3}}")
    )
    survives(f"nv set interface {key} link mtu 9216\nnv set vrf default router bgp neighbor {key} remote-as 1\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        state("interface:\n" + "".join(f"  'swp1-{4000 + n}': {{}}\n" for n in range(500))),
        "".join(f"nv set interface swp1-8000 link mtu {n}\n" for n in range(2000)),
        "- set: {interface: {swp1-8000: {link: {mtu: 1}}}}\n" * 600,
        "- set: " + "{a: " * 60 + "{}" + "}" * 60,
        "nv set qos pfc x switch-priority 0-7\n" * 20_000,
    ],
    ids=["many ranges", "long ranges in lines", "many sets", "deep", "many lines"],
)
def test_what_would_take_for_ever_is_refused_or_read_in_time(text: str) -> None:
    survives(text)


def test_too_many_ports_are_a_problem_and_not_a_device() -> None:
    reading = read(state("interface:\n" + "".join(f"  'swp1-{4000 + n}': {{}}\n" for n in range(50))))
    assert [problem.found for problem in reading.problems] == ["more than 20,000 interfaces, ranges written out"]
    assert reading.device.interfaces == ()


@pytest.mark.parametrize("seed", range(60))
def test_a_file_with_random_damage(seed: int) -> None:
    """Lines lost, doubled, swapped or indented otherwise, words replaced by others of the file or by nonsense."""
    random = Random(seed)
    lines = FULL.split("\n")
    words = re.findall(r"[\w./-]+", FULL)
    for _ in range(random.randint(1, 12)):
        at = random.randrange(len(lines))
        kind = random.randrange(5)
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(at, lines[random.randrange(len(lines))])
        elif kind == 2:
            lines[at] = "  " + lines[at] if random.random() < 0.5 else lines[at].removeprefix("  ")
        elif kind == 3 and (own := re.findall(r"[\w./-]+", lines[at])):
            lines[at] = lines[at].replace(random.choice(own), random.choice(words))
        else:
            nonsense = ("[]", "{}", "null", "-1", "9" * 30, "\u202e", "on", "~", "''", "&a", "*a", "!!x y", "\x00")
            lines[at] = lines[at].partition(":")[0] + ": " + random.choice(nonsense)
    survives("\n".join(lines))


@pytest.mark.parametrize("seed", range(20))
def test_lines_with_random_words(seed: int) -> None:
    random = Random(seed)
    words = [*re.findall(r"[\w./-]+", FULL), "'", '"', "\\", ";", "#", "swp1-4", "0-7", "''"]
    text = "".join(
        f"nv {random.choice(('set', 'set', 'unset'))} {' '.join(random.choices(words, k=random.randint(1, 9)))}\n"
        for _ in range(200)
    )
    survives(text)
