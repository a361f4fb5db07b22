"""Scripts of `nv set`: where a list or a range puts a setting, and words of any length."""

import pytest

from nodrop.platforms.nvue import tree
from nodrop.platforms.nvue.tree import NvueFileTree
from nodrop.syntax import nvset


def test_the_last_line_of_a_list_or_range_is_the_place() -> None:
    text = "nv set interface swp1-3 link mtu 9216\nnv set interface swp2,swp9 link mtu 1500\nnv unset interface swp1\n"
    held = NvueFileTree(text.encode(), "leaf1.nv")
    lines = {port: held.span(("interface", port, "link", "mtu")) for port in ("swp2", "swp3", "swp9")}
    assert {port: span and span.line for port, span in lines.items()} == {"swp2": 2, "swp3": 1, "swp9": 2}
    assert held.span(("interface", "swp4"), whole=True) is None
    taken_back = held.span(("interface", "swp1"), unset=True)
    assert taken_back is not None
    assert taken_back.line == 3


def test_a_long_word_is_read_as_one() -> None:
    word = "x" * 200_000 + "'y z'" + "w" * 200_000
    (command,) = nvset.parse_nv_commands(f"nv set system {word}\n").commands
    assert command.words == ("system", word.replace("'", ""))


def test_the_place_of_a_key_is_found_without_a_look_at_every_other(monkeypatch: pytest.MonkeyPatch) -> None:
    ports = "".join(f"      swp{number}:\n        link: {{mtu: 9216}}\n" for number in range(300))
    held = NvueFileTree(
        f"- set:\n    interface:\n{ports}      swp5-7: {{link: {{mtu: 1500}}}}\n".encode(), "startup.yaml"
    )
    asked: list[str] = []
    real = tree.expand_key
    monkeypatch.setattr(tree, "expand_key", lambda parent, key: asked.append(key) or real(parent, key))
    lines = {}
    for number in range(300):
        span = held.span(("interface", f"swp{number}", "link", "mtu"))
        lines[number] = span and span.line
    assert lines == {number: 603 if number in (5, 6, 7) else 2 * number + 4 for number in range(300)}
    assert len(asked) < 3000
