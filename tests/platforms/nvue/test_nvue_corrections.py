"""Corrections in NVUE files: settings of the other dialect in the words of the file's own, at all of their places."""

from nodrop.model.change import Change
from nodrop.model.reading import DeviceReading, Remark, Source
from nodrop.platforms.nvue.edit import edit
from nodrop.platforms.nvue.edit_steps import COMMANDS
from nodrop.platforms.nvue.reader import read_device

MIXED = """- header:
    model: SN4700
    nvue-api-version: nvue_v1
    version: '5.16'
- set:
    qos:
      roce:
        enable: on
        mode: lossless
    interface:
      swp1-2:
        type: swp
        ip:
          address:
            10.0.0.1/31: {}
      swp3:
        ip:
          vrf: blue
"""
CORRECTED = """- header:
    model: SN4700
    nvue-api-version: nvue_v1
    version: '5.16'
- set:
    qos:
      roce:
        mode: lossless
        state: enabled
    interface:
      swp1-2:
        type: swp
        ipv4:
          address:
            10.0.0.1/31: {}
      swp3:
        vrf: blue
"""


def _read(text: str) -> DeviceReading:
    return read_device("leaf1", [(Source(name="startup.yaml", display="startup.yaml"), text.encode())])


def _changes(*remarks: Remark) -> list[Change]:
    corrections = [each for remark in remarks for each in remark.remedy.corrections]
    return [Change(subject=("leaf1", *one.keys), old=one.old, new=one.new) for one in corrections]


def test_settings_of_the_other_dialect_are_written_in_the_own_one() -> None:
    remarks = [remark for remark in _read(MIXED).remarks if remark.kind == "mixed-dialect"]
    made = edit({"startup.yaml": MIXED.encode()}, _changes(*remarks), name="leaf1")
    assert made.by_hand == ()
    assert made.files["startup.yaml"].decode() == CORRECTED
    assert [remark.kind for remark in _read(CORRECTED).remarks if remark.kind == "mixed-dialect"] == []


def test_a_switch_is_not_told_to_unset_what_its_release_does_not_have() -> None:
    remarks = [remark for remark in _read(MIXED).remarks if remark.kind == "mixed-dialect"]
    made = edit({"startup.yaml": MIXED.encode()}, _changes(*remarks), name="leaf1")
    assert made.forms[COMMANDS].splitlines() == [
        *(f"# delete line {number} of startup.yaml" for number in (8, 13, 14, 15, 17, 18)),
        "nv set qos roce state enabled",
        "nv set interface swp1-2 ipv4 address 10.0.0.1/31",
        "nv set interface swp3 vrf blue",
    ]


def test_of_a_line_with_other_settings_only_the_key_is_to_be_deleted() -> None:
    text = MIXED[: MIXED.index("- set:")] + "- set:\n    qos: {roce: {enable: on, mode: lossless}}\n"
    remarks = [remark for remark in _read(text).remarks if remark.kind == "mixed-dialect"]
    made = edit({"startup.yaml": text.encode()}, _changes(*remarks), name="leaf1")
    number = len(text.splitlines())
    assert made.forms[COMMANDS].splitlines() == [
        f"# delete qos roce enable from line {number} of startup.yaml",
        "nv set qos roce state enabled",
    ]


def test_a_missing_profile_is_replaced_by_the_one_that_all_other_ports_have() -> None:
    text = (
        "nv set qos pfc near cable-length 5\n"
        "nv set interface swp1-4 qos pfc profile near\n"
        "nv set interface swp5-6 qos pfc profile neer\n"
    )
    (remark,) = (remark for remark in _read(text).remarks if remark.kind == "dangling-reference")
    made = edit({"startup.yaml": text.encode()}, _changes(remark), name="leaf1")
    assert made.files["startup.yaml"].decode() == text.replace("neer", "near")


def test_a_missing_profile_is_left_where_other_ports_have_several() -> None:
    text = (
        "nv set qos pfc near cable-length 5\n"
        "nv set interface swp1 qos pfc profile near\n"
        "nv set interface swp2 link state up\n"
        "nv set interface swp3 qos pfc profile neer\n"
    )
    (remark,) = (remark for remark in _read(text).remarks if remark.kind == "dangling-reference")
    assert remark.remedy.corrections == ()
