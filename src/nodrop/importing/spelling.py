"""How an imported intent is written: the order and shape of the shipped ones, and remarks behind what was guessed."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nodrop.importing.found import Found, Keys, Tree

_ORDER = (
    "nodrop", "fabric", "mode", "mtu", "topology", "endpoints", "classes", "pfc", "buffers", "trimming", "hosts",
    "routing", "addressing", "services", "devices", "extra",
)  # fmt: skip
_WITHIN: Mapping[Keys, tuple[str, ...]] = {
    ("topology",): ("kind", "spines", "leaves", "uplinks", "max_oversubscription", "slots_per_device"),
    ("topology", "leaves"): ("ids", "model", "platform", "version", "ports"),
    ("topology", "leaves", "ports"): ("endpoints", "uplinks", "dead"),
}
_BLOCKS = ("topology", "endpoints", "classes", "pfc", "pfc.watchdog", "devices")
_DEEP = "extra"
_WIDTH = 160
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/+-]*")
_NUMERIC = re.compile(r"[0-9]+(\.[0-9]+)?|[0-9]+\.[0-9]*")
_WORDS = ("null", "true", "false", "yes", "no", "on", "off", "y", "n")
_FREE = ("on", "off")
"""Words that are texts in YAML 1.2, and that intents have as they are."""


def spell(found: Found, head: Iterable[str] = (), tail: Iterable[str] = ()) -> str:
    """Return an intent's text; `head` and `tail` are lines of comments before and behind it."""
    lines = [_comment(line) for line in head]
    lacking = dict(found.lacking)
    for key in _ORDER:
        if key in found.keys:
            lines += _lines(found, (key,), found.keys[key])
        for at in [at for at in lacking if at[0] == key]:
            why = lacking.pop(at)
            lines.append(f"# {'.'.join(at)} is to be added: {why}")
    lines += [_comment(line) for line in tail]
    return "\n".join(lines) + "\n"


def _comment(line: str) -> str:
    return f"# {line}" if line else "#"


def _lines(found: Found, at: Keys, value: Any) -> Iterator[str]:
    indent = "  " * (len(at) - 1)
    above = [why for keys, why in found.guessed.items() if keys == at]
    block = isinstance(value, dict) and value and (".".join(at) in _BLOCKS or at[0] == _DEEP)
    flat = f"{indent}{_key(at[-1])}: {_flow(at, value)}"
    if not block and isinstance(value, dict) and value and len(flat) > _WIDTH and len(at) < 3:
        block = True
    if not block:
        below = [(keys, why) for keys, why in found.guessed.items() if keys[: len(at)] == at and keys != at]
        inner = [f"{'.'.join(keys[len(at) :])}: {why}" for keys, why in below]
        for why in (*above, *inner):
            yield f"{indent}# guessed: {why}"
        yield flat
        return
    for why in above:
        yield f"{indent}# guessed: {why}"
    yield f"{indent}{_key(at[-1])}:"
    inside = _sorted(at, value)
    width = max((len(_key(key)) for key, one in inside if isinstance(one, dict)), default=0)
    aligned = at[0] in ("endpoints", "classes") or at == ("pfc", "watchdog")
    for key, one in inside:
        made = list(_lines(found, (*at, key), one))
        if aligned and isinstance(one, dict) and one:
            head, _, rest = made[-1].partition(": ")
            gap = " " * (width - len(_key(key)))
            made[-1] = f"{head}: {gap}{rest}"
        yield from made


def _sorted(at: Keys, value: Tree) -> list[tuple[str, Any]]:
    order = _WITHIN.get(at, ())
    return sorted(value.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order))


def _flow(at: Keys, value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)}: {_flow((*at, key), one)}" for key, one in _sorted(at, value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_flow(at, one) for one in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value) if isinstance(value, int) else _text(str(value))


def _key(text: str) -> str:
    return _text(text)


def _text(text: str) -> str:
    """Spell a text: as it stands where YAML takes it for just that, else in quotes."""
    plain = (_PLAIN.fullmatch(text) or (text.endswith("%") and text[:-1].isdecimal())) and not _NUMERIC.fullmatch(text)
    if plain and (text not in _WORDS or text in _FREE):
        return text
    return json.dumps(text, ensure_ascii=False)
