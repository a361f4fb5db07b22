"""tools/sonic_hardware.py: a hardware file out of a SONiC platform's public files, here of a platform made up."""

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from nodrop.hardware.schema import SwitchModel
from nodrop.syntax.yaml import parse_yaml
from sonic_hardware import main
from support.places import ROOT

LANES = ("9,10,11,12", "1,2,3,4", "5,6,7,8", "13,14,15,16")
MODES = ("1x100G[50G,40G]", "2x50G", "4x25G[10G]", "1x10G(1)")
TABLE = """\
# PG lossless profiles.
# speed cable size xon xoff threshold xon_offset
 100000   5m  1248 2288 35776  -3  2288
 100000  40m  1248 2288 53248  -3  2288
  50000   5m  1248 2288 25000  -3  2288
  50000  40m  1248 2288 29000  -3  2288
"""
POOLS = """\
{%- set default_cable = '5m' %}
{%- set size = '14000000' %}
{%- macro generate_port_lists(PORT_ALL) %}{%- endmacro %}
{%- macro generate_buffer_pool_and_profiles() %}
    "BUFFER_POOL": {
        "ingress_lossless_pool": {"size": "{{ size }}", "type": "ingress", "mode": "dynamic", "xoff": "4000000"},
        "egress_lossless_pool": {"size": "15000000", "type": "egress", "mode": "static"}
    },
    "BUFFER_PROFILE": {
        "egress_lossless_profile": {"pool": "egress_lossless_pool", "size": "0", "static_th": "16000000"}
    },
{%- endmacro %}
"""


def aliases(mode: str, panel: int) -> list[str]:
    """Return the aliases of a mode's ports: Eth1/2 for a whole port, Eth1/2/3 for its third part."""
    parts = int(mode.partition("x")[0])
    return [f"Eth1/{panel}"] if parts == 1 else [f"Eth1/{panel}/{part}" for part in range(1, parts + 1)]


def interfaces() -> dict[str, Any]:
    """Return the ports of platform.json: four of four lanes, and one of one lane for management."""
    found = {
        f"Ethernet{4 * place}": {
            "index": ",".join([str(place)] * 4),
            "lanes": lanes,
            "breakout_modes": {mode: aliases(mode, place + 1) for mode in MODES},
        }
        for place, lanes in enumerate(LANES)
    }
    return found | {"Ethernet16": {"index": "4", "lanes": "17", "breakout_modes": {"1x10G": ["Eth1/5"]}}}


def port_config(*rows: str) -> str:
    """Return a port_config.ini."""
    return "\n".join(("# name lanes alias index speed", *rows, ""))


@pytest.fixture
def platform(tmp_path: Path) -> Path:
    """A platform of two HWSKUs."""
    folder = tmp_path / "device/acme/x86_64-acme_5-r0"
    put(folder, "default_sku", "Acme-C4 t1\n")
    put(folder, "platform.json", json.dumps({"chassis": {"name": "5"}, "interfaces": interfaces()}))
    put(folder, "x2-acme-5.config.bcm", "")
    modes = {f"Ethernet{4 * place}": {"default_brkout_mode": MODES[0]} for place in range(4)}
    put(folder, "Acme-C4/hwsku.json", json.dumps({"interfaces": modes}))
    put(folder, "Acme-C4/pg_profile_lookup.ini", TABLE)
    put(folder, "Acme-C4/buffers_defaults_t0.j2", POOLS)
    put(folder, "Acme-C4/buffers_defaults_t1.j2", POOLS)
    put(folder, "Acme-D4/port_config.ini", port_config("Ethernet0 9,10 Eth1/1 0 40000", "Ethernet4 1,2 Eth1/2 1 40000"))
    put(folder, "Acme-D4/pg_profile_lookup.ini", TABLE.replace("53248", "30000"))
    put(folder, "Acme-D4/buffers_defaults_t0.j2", POOLS.replace('"dynamic"', '"static"').replace("14000000", "9000000"))
    return folder


def put(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def written(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """Return what the tool prints."""
    assert main([str(folder), *options]) == 0
    return capsys.readouterr().out


def completed(text: str) -> SwitchModel:
    """Return the model that a file describes once its vendor and ASIC are filled in."""
    facts = parse_yaml(text.encode(), "new.yaml").data
    assert isinstance(facts, dict)
    return SwitchModel.model_validate({"name": "new", "vendor": "Acme", "asic": "tomahawk-3", **facts})


def to_complete(text: str) -> list[str]:
    """Return what the head of a file leaves to a person, beyond what no platform says."""
    lines = " ".join(line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#   "))
    return [each.strip() for each in lines.split(" - ")[6:]]


BODY = """\
buffer_bytes: 16000000    # static_th of egress_lossless_profile of Acme-C4/buffers_defaults_t0.j2
platforms: [sonic]
max_split: 4
ports:
  - panels: 1-4
    lanes: 4
    speeds: [100G, 50G, 40G]
    splits:
      - {into: 2, lanes: 2, speeds: [50G]}
      - {into: 4, lanes: 1, speeds: [25G, 10G]}
    narrow:
      - {lanes: 1, speeds: [10G], modes: ["1x10G(1)"]}
    other_modes: ["1x40G(2) of Acme-D4"]
    sonic:
      number: 0
      index: -1
      alias: "Eth1/{panel}"
      part_alias: "Eth1/{panel}/{part}"
      lanes: [9-12, 1-4, 5-8, 13-16]
  - panels: "5"
    lanes: 1
    speeds: [10G]
    sonic:
      number: 16
      index: -1
      alias: "Eth1/{panel}"
      lanes: 17
sonic:
  platform: x86_64-acme_5-r0
  hwsku: Acme-C4
  hwskus: [Acme-C4, Acme-D4]
  layouts:
    - hwskus: [Acme-C4]
      ports: {1x100G: 1-4}
    - hwskus: [Acme-D4]
      ports: {}
  pools:                      # name, direction, mode, size, of it shared headroom; bytes
    - templates: [t0, t1]
      sources: [Acme-C4/buffers_defaults_t0.j2, Acme-C4/buffers_defaults_t1.j2]
      rows:
        - [ingress_lossless, ingress, dynamic, 14000000, 4000000]
        - [egress_lossless, egress, static, 15000000]
  headroom:                   # rows of speed Mb/s, cable m, size, xon, xoff[, threshold, xon offset]; bytes
    - sources: [Acme-C4/pg_profile_lookup.ini]
      hwskus: [Acme-C4]
      threshold: -3
      xon_offset_bytes: 2288
      rows:
        - [100000, 5, 1248, 2288, 35776]
        - [100000, 40, 1248, 2288, 53248]
        - [50000, 5, 1248, 2288, 25000]
        - [50000, 40, 1248, 2288, 29000]
    - sources: [Acme-D4/pg_profile_lookup.ini]
      hwskus: [Acme-D4]
      kind: static
      threshold: -3
      xon_offset_bytes: 2288
      grows_with_cable: false
      rows:
        - [100000, 5, 1248, 2288, 35776]
        - [100000, 40, 1248, 2288, 30000]
        - [50000, 5, 1248, 2288, 25000]
        - [50000, 40, 1248, 2288, 29000]
sources:
  - "sonic-buildimage device/acme/x86_64-acme_5-r0 (the files listed above)"
"""


def test_a_platform_becomes_a_hardware_file(platform: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = written(platform, capsys)
    head, body = text[: text.index("buffer_bytes")], text[text.index("buffer_bytes") :]
    assert body == BODY
    assert head.startswith(
        "# Written by tools/sonic_hardware.py from sonic-buildimage, device/acme/x86_64-acme_5-r0:\n"
    )
    for path in platform.rglob("*"):
        if path.is_file() and path.suffix != ".bcm":
            digest = sha256(path.read_bytes()).hexdigest()
            assert f"#   {path.relative_to(platform)} sha256:{digest}\n" in head
    assert to_complete(text) == [
        "ports.service: true for those of the groups 1-4; 5 that are for management",
        "asic: files that may name it: x2-acme-5.config.bcm",
    ]


def test_the_file_says_of_each_port_what_the_vendor_says(platform: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = completed(written(platform, capsys))
    for panel, facts in enumerate(interfaces().values(), 1):
        port = model.sonic_ports[panel]
        assert port.lanes == tuple(map(int, facts["lanes"].split(",")))
        assert port.front_index == int(facts["index"].partition(",")[0])
        for mode, names in facts["breakout_modes"].items():
            parts = len(names)
            firsts = [part * len(port.lanes) // parts for part in range(parts)]
            known = [port.alias_of(panel, first, part if parts > 1 else None) for part, first in enumerate(firsts)]
            assert known == names, mode
    assert model.sonic.headroom_row(100_000, 40) == (100_000, 40, 1248, 2288, 53248, -3, 2288)


def test_modes_as_platform_json_had_them_before(platform: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ports = {
        name: facts | {"breakout_modes": ",".join(facts["breakout_modes"]), "alias_at_lanes": at_lanes}
        for place, (name, facts) in enumerate(list(interfaces().items())[:4], 1)
        for at_lanes in [", ".join(f"Ethernet{place}/{lane}" for lane in range(1, 5))]
    }
    put(platform, "platform.json", json.dumps({"interfaces": ports}))
    (group,) = completed(written(platform, capsys)).ports
    assert [(way.into, way.speeds) for way in group.breakout_options] == [
        (1, (100_000, 50_000, 40_000)),
        (2, (50_000,)),
        (4, (25_000, 10_000)),
    ]
    assert group.sonic is not None
    assert (group.sonic.alias, group.sonic.part_alias) == ("Ethernet{panel}/1", "Ethernet{panel}/{lane}")


def test_without_platform_json_whole_ports_alone_are_known(platform: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (platform / "platform.json").unlink()
    put(
        platform, "Acme-C4/port_config.ini", port_config("Ethernet4 5,6,7,8 e1 1 40000", "Ethernet0 1,2,3,4 e0 0 40000")
    )
    text = written(platform, capsys)
    model = completed(text)
    (group,) = model.ports
    assert (model.max_split, group.speeds, group.splits) == (1, (40_000,), ())
    assert {panel: (port.number, port.lanes) for panel, port in model.sonic_ports.items()} == {
        1: (0, (1, 2, 3, 4)),
        2: (4, (5, 6, 7, 8)),
    }
    assert [model.sonic_ports[panel].alias_of(panel, 0, None) for panel in (1, 2)] == ["e0", "e1"]
    assert to_complete(text)[0] == (
        "ports.splits and max_split: there is no platform.json, so whole ports alone are known"
    )


def test_what_no_file_says_is_left_out_and_listed(platform: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = interfaces()
    del named["Ethernet16"]
    named["Ethernet4"]["breakout_modes"]["1x100G[50G,40G]"] = ["uplink"]
    put(platform, "platform.json", json.dumps({"interfaces": named}))
    sizes = ' {% if dynamic_mode is not defined %}"size": "{{ size }}",{% endif %}'
    put(platform, "Acme-C4/buffers_defaults_t0.j2", POOLS.replace('"size": "{{ size }}",', sizes))
    put(platform, "Acme-C4/buffers_defaults_t1.j2", POOLS.replace("{{ size }}", "{{ DEVICE_NEIGHBOR | length }}"))
    (platform / "Acme-D4/pg_profile_lookup.ini").unlink()
    (platform / "Acme-D4/pg_profile_lookup.ini").symlink_to("../../x86_64-acme_4-r0/pg_profile_lookup.ini")
    text = written(platform, capsys)
    model = completed(text)
    assert (model.ports[0].sonic, model.sonic.pools, len(model.sonic.headroom)) == (None, (), 1)
    assert to_complete(text) == [
        "buffer_bytes: templates that were not read may have a larger pool or limit",
        "ports 1-4: sonic: their aliases follow no rule, or are not stated",
        "sonic.pools of t0: the buffer model of the release decides their sizes",
        "asic: files that may name it: x2-acme-5.config.bcm",
        "Acme-C4/buffers_defaults_t1.j2: not read: UndefinedError: 'DEVICE_NEIGHBOR' is undefined",
        "Acme-D4/pg_profile_lookup.ini: not read: a link to ../../x86_64-acme_4-r0/pg_profile_lookup.ini, "
        "which is not there",
    ]


def test_a_template_sees_the_ports_of_its_hwsku(platform: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(platform, "Acme-D4/buffers_defaults_t1.j2", POOLS.replace("{{ size }}", "{{ 10000000 * PORT | length }}"))
    assert "buffer_bytes: 20000000    # ingress_lossless_pool of Acme-D4/buffers_defaults_t1.j2\n" in written(
        platform, capsys
    )


def test_a_table_with_one_xoff_for_all_cables_is_marked(platform: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(platform, "Acme-C4/pg_profile_lookup.ini", TABLE.replace("53248", "35776").replace("29000", "25000"))
    tables = completed(written(platform, capsys)).sonic.headroom
    assert [table.grows_with_cable for table in tables] == [False, False]


def test_a_template_includes_no_file_outside_its_folder(platform: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(platform, "Acme-D4/buffers_defaults_t0.j2", "{% include '../default_sku' %}" + POOLS)
    reason = "Acme-D4/buffers_defaults_t0.j2: not read: TemplateNotFound: ../default_sku"
    assert reason in to_complete(written(platform, capsys))


def test_a_lane_of_two_ports_is_reported(platform: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(platform, "platform.json", json.dumps({"interfaces": interfaces()}).replace('"17"', '"16"'))
    assert "ports: lane 16 is of ports 4-5 in platform.json" in to_complete(written(platform, capsys))


def test_the_memory_is_in_doubt_where_a_template_is_not_read(
    platform: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(platform, "Acme-D4/buffers_defaults_t0.j2", POOLS.replace("{{ size }}", "{{ VLAN | length }}"))
    text = written(platform, capsys)
    assert "buffer_bytes: 16000000 " in text
    assert "buffer_bytes: templates that were not read may have a larger pool or limit" in to_complete(text)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("default_sku", "Acme-C5 t1\n", "no HWSKU `Acme-C5`; there are: Acme-C4, Acme-D4"),
        ("default_sku", "", "no HWSKU none named by --hwsku or default_sku; there are: Acme-C4, Acme-D4"),
        ("platform.json", "{", "platform.json: Expecting property name"),
        ("platform.json", "[]", "platform.json: expected a JSON object"),
        ("platform.json", "{}", "Acme-C4/port_config.ini: ports that share an index, or have none"),
        (
            "platform.json",
            '{"interfaces": {"Ethernet0": {"lanes": "1,x"}}}',
            "platform.json: not understood (ValueError: ",
        ),
        ("platform.json", '{"interfaces": {"Ethernet0": {}}}', "platform.json: not understood (KeyError: 'lanes')"),
        (
            "platform.json",
            '{"interfaces": {"Eth0": {"lanes": "1"}}}',
            "platform.json: no port called Ethernet<number>",
        ),
        ("Acme-D4/hwsku.json", '{"interfaces": [1]}', "Acme-D4/hwsku.json or port_config.ini: not understood"),
        ("Acme-C4/pg_profile_lookup.ini", "100000 5m 1\n", "Acme-C4/pg_profile_lookup.ini:1: expected speed, cable"),
    ],
)
def test_files_that_cannot_be_read_are_reported(
    name: str, text: str, told: str, platform: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ("Ethernet0 1,2 e1 1 40000", "Ethernet2 3,4 e1 1 40000")
    put(platform, "Acme-C4/port_config.ini", port_config(*rows))
    put(platform, name, text)
    assert main([str(platform)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert told in err


def test_a_file_is_written_once_and_never_over_another(platform: Path, tmp_path: Path) -> None:
    script, out = ROOT / "tools/sonic_hardware.py", tmp_path / "ACME-5.yaml"
    command = [sys.executable, script, platform, "--hwsku", "Acme-D4", "-o", out]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == ""
    assert completed(out.read_text()).sonic.hwsku == "Acme-D4"
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr == f"error: [Errno 17] File exists: '{out}'\n"
    missing = subprocess.run([*command[:2], tmp_path / "none"], capture_output=True, text=True, check=False)
    assert (missing.returncode, missing.stderr) == (
        2,
        f"error: {tmp_path / 'none'}: no such folder; expected device/<vendor>/<platform> of sonic-buildimage\n",
    )
