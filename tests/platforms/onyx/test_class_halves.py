"""What to type for a lossless class of which one half is set."""

import pytest

from support.legacy_platforms import read

PFC = "   dcb priority-flow-control enable force\n   dcb priority-flow-control priority {} enable\n"
PORT = "   interface ethernet 1/1 dcb priority-flow-control mode on force\n"
POOL = "   traffic pool roce type lossless\n   traffic pool roce memory percent 50.00\n"
MAP = "   traffic pool roce map switch-priority {}\n"
MARKED = "   interface ethernet 1/1 traffic-class 3 congestion-control ecn minimum-absolute 150 maximum-absolute 1500\n"
LOSSY = "if the class is to be lossy"
LOSSLESS = "if the class is to be lossless"


@pytest.mark.parametrize(
    ("text", "cases"),
    [
        (
            PFC.format(4) + PORT + POOL + MAP.format(3) + MARKED,
            {"": ("dcb priority-flow-control priority 3 enable", "no dcb priority-flow-control priority 4 enable")},
        ),
        (
            PFC.format(3) + PORT + POOL + MAP.format(7) + MARKED,
            {"": ("traffic pool roce map switch-priority 3", "no traffic pool roce map switch-priority 7")},
        ),
        (
            PFC.format(3) + PORT + POOL + MAP.format(7) + "   traffic pool other map switch-priority 3\n" + MARKED,
            {
                "": (
                    "no traffic pool other map switch-priority 3",
                    "traffic pool roce map switch-priority 3",
                    "no traffic pool roce map switch-priority 7",
                )
            },
        ),
        (
            PFC.format(4) + PORT + POOL + MAP.format(3),
            {
                "if the class of priority 3 is the lossless one": (
                    "dcb priority-flow-control priority 3 enable",
                    "no dcb priority-flow-control priority 4 enable",
                ),
                "if the class of priority 4 is the lossless one": (
                    "traffic pool roce map switch-priority 4",
                    "no traffic pool roce map switch-priority 3",
                ),
            },
        ),
        (PFC.format(3) + PORT + MAP.format(3), {LOSSLESS: ("traffic pool roce type lossless",)}),
        (PFC.format(3) + PORT + POOL, {LOSSLESS: ("traffic pool roce map switch-priority 3",)}),
        (PFC.format(3) + PORT, {}),
        (
            PFC.format(3) + PFC.format(4) + PORT + POOL + MAP.format(3),
            {LOSSY: ("no dcb priority-flow-control priority 4 enable",)},
        ),
        (
            POOL + MAP.format(3),
            {LOSSLESS: ("dcb priority-flow-control enable force", "dcb priority-flow-control priority 3 enable")},
        ),
    ],
)
def test_the_other_half_or_the_correct_priority_is_typed(text: str, cases: dict[str, tuple[str, ...]]) -> None:
    remarks = [
        remark
        for remark in read("onyx", **{"running-config.txt": "## Running database\n" + text}).remarks
        if remark.kind == "lossless-half-configured"
    ]
    assert remarks
    for remark in remarks:
        assert {choice.condition: choice.lines for choice in remark.remedy.choices} == cases
