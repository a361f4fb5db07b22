"""Settings that contradict the mode of `qos roce`: repaired where the fabric's mode decides, else shown as choices."""

import pytest

from nodrop.engine.finding import Fix
from nodrop.engine.rules import shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.model.assemble import assemble_fabric
from nodrop.model.declared import DeclaredFacts
from nodrop.model.fabric import Mode
from nodrop.model.reading import Source
from nodrop.platforms.nvue.reader import read_device

LOSSY_WITH_PFC = "nv set qos roce mode lossy\nnv set qos pfc default-global switch-priority 3\n"
LOSSY_WITH_PROFILE = "nv set qos roce mode lossy\nnv set qos pfc default-global cable-length 5\n"
NO_DIRECTION = "nv set qos roce mode lossless\n" + "".join(
    f"nv set qos pfc default-global {direction} disable\n" for direction in ("tx", "rx")
)
OTHER_POOL = "nv set qos roce mode lossless\nnv set qos traffic-pool default-lossless memory-percent 40\n"
BOTH_POOLS = f"{OTHER_POOL}nv set qos traffic-pool roce-lossless memory-percent 50\n"
ONE_POOL = OTHER_POOL.replace("lossless\n", "lossless-single-ipool\n", 1)
UNSET_PFC, UNSET_POOL = "nv unset qos pfc default-global", "nv unset qos traffic-pool default-lossless memory-percent"
MOVED = "nv set qos traffic-pool roce-lossless memory-percent 40"


def _fix(text: str, mode: Mode | None) -> Fix:
    raw = f"# model: SN4700, release 5.16\n{text}".encode()
    reading = read_device("leaf1", [(Source(name="x.nv", display="x.nv", held=raw), raw)])
    fabric = assemble_fabric([reading], DeclaredFacts(mode=mode))
    rules = [rule for rule in shipped_rules() if rule.name == "macro-contradicted"]
    (finding,) = judge(fabric, rules).findings
    assert finding.fix is not None
    return finding.fix


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        (LOSSY_WITH_PFC, {"qos roce mode": "lossless"}),
        (LOSSY_WITH_PROFILE, {"qos roce mode": "lossless"}),
        (NO_DIRECTION, {"qos pfc default-global tx": "enable", "qos pfc default-global rx": "enable"}),
    ],
)
def test_a_stated_mode_with_pfc_decides(text: str, changed: dict[str, str]) -> None:
    fix = _fix(text, "lossless")
    assert {" ".join(change.subject[2:]): change.new for change in fix.changes} == changed
    assert fix.choices == ()
    for mode in (None, "lossy"):
        assert _fix(text, mode).changes == ()
        assert len(_fix(text, mode).choices) == 2


def test_the_share_of_the_other_lossless_pool_moves_whatever_the_mode_of_the_fabric() -> None:
    moved = {"qos traffic-pool default-lossless memory-percent": None}
    moved |= {"qos traffic-pool roce-lossless memory-percent": "40"}
    for mode in ("lossless", None):
        assert {" ".join(change.subject[2:]): change.new for change in _fix(OTHER_POOL, mode).changes} == moved


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        (
            LOSSY_WITH_PFC,
            {
                "if RDMA is to be lossless": ("nv set qos roce mode lossless",),
                "if RDMA is to be lossy": (f"{UNSET_PFC} switch-priority",),
            },
        ),
        (
            LOSSY_WITH_PROFILE,
            {
                "if RDMA is to be lossless": ("nv set qos roce mode lossless",),
                "if RDMA is to be lossy": (UNSET_PFC,),
            },
        ),
        (
            NO_DIRECTION,
            {
                "if RDMA is to be lossless": (
                    "nv set qos pfc default-global tx enable",
                    "nv set qos pfc default-global rx enable",
                ),
                "if RDMA is to be lossy": (UNSET_PFC, "nv set qos roce mode lossy"),
            },
        ),
        (BOTH_POOLS, {"if 50 % are meant": (UNSET_POOL,), "if 40 % are meant": (UNSET_POOL, MOVED)}),
        (
            ONE_POOL,
            {
                "if two pools are meant": ("nv set qos roce mode lossless", UNSET_POOL, MOVED),
                "if one pool is meant": (UNSET_POOL,),
            },
        ),
    ],
)
def test_a_decision_of_the_owner_is_shown_as_choices(text: str, choices: dict[str, tuple[str, ...]]) -> None:
    fix = _fix(text, None)
    assert fix.changes == ()
    assert {choice.condition: choice.lines for choice in fix.choices} == choices


@pytest.mark.parametrize("off", ["state: disabled", "state: disable", "state: 'off'", "enable: 'false'"])
def test_a_macro_that_is_off_is_contradicted_by_nothing(off: str) -> None:
    raw = f"- set: {{interface: {{swp1: {{type: swp}}}}, qos: {{roce: {{{off}, mode: lossy}}, pfc: {PFC}}}}}\n".encode()
    reading = read_device("leaf1", [(Source(name="startup.yaml", display="startup.yaml", held=raw), raw)])
    assert not {remark.kind for remark in reading.remarks} & {"macro-contradicted", "macro-mode-not-stated"}


PFC = "{default-global: {switch-priority: {'3': {}}, rx: enable, tx: enable}}"
