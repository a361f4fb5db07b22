"""Random names of an intent: templates of any form that hold the number, and exceptions."""

import string
from typing import Any

from hypothesis import strategies as st

from support.designs import Data

_TEXTS = st.text(string.ascii_letters + string.digits + "._-", max_size=6)
_NUMBERS = st.sampled_from(["{id}", "{id:02}", "{id:03}", "{id:05}"])


@st.composite
def templates(draw: st.DrawFn, word: str) -> str:
    """A template with its role or group as a field, between texts that may hold digits, though not beside the number:
    `1{id}` of 1 reads as 11.
    """
    pieces = [draw(st.sampled_from([word, f"{word}-", f"-{word}."])), draw(_NUMBERS)]
    if draw(st.booleans()):
        pieces.reverse()
    ends = draw(st.sampled_from(["{site}-", "p{pod}-", "x"])), draw(st.sampled_from(["", "-{plane}", ".net"]))
    return "".join(("n", ends[0], draw(_TEXTS), "-", *pieces, "_", draw(_TEXTS), ends[1]))


@st.composite
def names(draw: st.DrawFn, data: Data) -> dict[str, Any]:
    """The key `names` for an intent, which may be refused for names that are there twice."""
    made: dict[str, Any] = {"site": draw(st.from_regex(r"[a-z][a-z0-9]{0,4}", fullmatch=True))}
    if draw(st.booleans()):
        made["template"] = draw(templates("{role}"))
    elif draw(st.booleans()):
        made["template"] = {"leaf": draw(templates("leaf")), "spine": draw(templates("core"))}
    if draw(st.booleans()):
        made["hosts"] = draw(templates("{group}"))
    elif draw(st.booleans()):
        made["hosts"] = {name: draw(templates("host"[: place + 1])) for place, name in enumerate(data["endpoints"])}
    exception = st.sampled_from(["leaf1", "leaf2", "leaf3", "spine1", "spine2"])
    ids = {f"{role[:-1] if role == 'spines' else 'leaf'}{number}" for role in ("leaves", "spines")
           for number in _numbers(data["topology"][role]["ids"])}  # fmt: skip
    keys = draw(st.sets(exception, max_size=2)) & ids
    made["devices"] = {
        key: f"odd-{draw(st.from_regex(r'[a-z]{3,8}', fullmatch=True))}-{key[0]}{key[-1]}" for key in keys
    }
    return made


def _numbers(text: str) -> set[int]:
    spans = (part.strip().partition("-") for part in str(text).split(","))
    return {number for first, _, last in spans for number in range(int(first), int(last or first) + 1)}
