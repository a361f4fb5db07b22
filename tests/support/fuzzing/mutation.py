"""Edits of inputs: of documents by their structure, of lines by their words, and sometimes of bare bytes."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

from support.fuzzing.texts import Pairs, Raw, Tree, Unreadable, clone, dump, load, nodes
from support.fuzzing.vocabulary import LIMITS, NASTY, Vocabulary

Files = dict[str, bytes]
"""An input: files by their path below the input's folder."""
_LARGEST = 120_000
"""Larger inputs are cut, in bytes: what is large is tried by the tests of limits."""
_PIECES = re.compile(r"([|,:/ .=-])")
_NUMBER = re.compile(rb"\d+")
_loaded = lru_cache(maxsize=1000)(load)
"""Inputs begin with the same ones again and again."""


def syntax_of(path: str, syntaxes: Mapping[str, str]) -> str | None:
    """Return how a file is written; None where it is not to be mutated."""
    fitting = [ending for ending in syntaxes if path.endswith(ending)]
    return syntaxes[max(fitting, key=len)] if fitting else None


def mutated(
    files: Files,
    syntaxes: Mapping[str, str],
    vocabulary: Vocabulary,
    others: Sequence[Files],
    random: Random,
    *,
    gentle: float = 0.5,
) -> Files:
    """Return an input with one to eight edits in its files, some of them with parts of other inputs.

    `gentle` is the share of documents that get an edit or two which their schema is likely to take.
    """
    made = dict(files)
    paths = [path for path in sorted(made) if syntax_of(path, syntaxes)]
    if not paths:
        return made
    for path in random.sample(paths, min(len(paths), 1 if random.random() < 0.8 else 2)):
        syntax = str(syntax_of(path, syntaxes))
        similar = [one[path] for one in others if path in one]
        if not similar:
            similar = [raw for one in others for name, raw in one.items() if name.endswith(path.rpartition("/")[2])]
        other = random.choice(similar) if similar else b""
        made[path] = _changed(made[path], syntax, vocabulary, other, random, gentle)[:_LARGEST]
    if len(paths) > 1 and random.random() < 0.05:
        del made[random.choice(paths)]
    return made


def _changed(raw: bytes, syntax: str, vocabulary: Vocabulary, other: bytes, random: Random, gently: float) -> bytes:
    edits = 1 + min(int(random.expovariate(0.9)), 7)
    if syntax not in ("lines", "bytes") and random.random() < 0.93:
        try:
            tree = clone(_loaded(raw, syntax))
            donor = _loaded(other, syntax) if other and random.random() < 0.3 else None
        except Unreadable:
            pass
        else:
            gentle = random.random() < gently
            for _ in range(min(edits, 2) if gentle else edits):
                tree = edit_tree(tree, vocabulary, donor, random, gentle=gentle)
            return dump(tree, syntax)
    if syntax == "lines" or (syntax != "bytes" and random.random() < 0.7):
        lines = raw.decode("utf-8", "surrogateescape").split("\n")
        donors = other.decode("utf-8", "surrogateescape").split("\n") if other else []
        for _ in range(edits):
            edit_lines(lines, vocabulary, donors, random)
        return "\n".join(lines).encode("utf-8", "backslashreplace" if random.random() < 0.5 else "surrogatepass")
    for _ in range(edits):
        raw = edit_bytes(raw, random)
    return raw


# ---------------------------------------------------------------------------------------------------- documents


@dataclass
class Spot:
    """A place in a document that an edit is made at, and what it may take from."""

    tree: Tree
    holder: list[Any]
    index: int
    key: Any
    value: Tree
    vocabulary: Vocabulary
    donor: Tree
    every: list[tuple[list[Any], int, Any]]
    random: Random


def edit_tree(tree: Tree, vocabulary: Vocabulary, donor: Tree, random: Random, *, gentle: bool = False) -> Tree:
    """Return a document with one edit, `gentle` where its schema is likely to take it; the given tree is changed."""
    every = list(nodes(tree))
    if not every:
        return clone(vocabulary.value(random)) if random.random() < 0.5 else Pairs([[vocabulary.word(random), ""]])
    holder, index, key = random.choice(every)
    spot = Spot(tree, holder, index, key, holder[index], vocabulary, donor, every, random)
    if gentle:
        random.choices(_TREE_EDITS, _GENTLE)[0](spot)
        return tree
    random.choices(_TREE_EDITS, _WEIGHTS)[0](spot)
    if random.random() < 0.01:
        return random.choice((clone(vocabulary.value(random)), [tree], Pairs([["", tree]])))
    return tree


def _usual(spot: Spot) -> None:
    if not isinstance(spot.value, list):
        spot.holder[spot.index] = clone(spot.vocabulary.usual(spot.random, spot.key))


def _replace(spot: Spot) -> None:
    spot.holder[spot.index] = clone(spot.vocabulary.value(spot.random, spot.key))


def _retype(spot: Spot) -> None:
    text = spot.value if isinstance(spot.value, str) else str(spot.value) if not isinstance(spot.value, list) else "x"
    kinds: list[Any] = [
        None,
        True,
        [],
        Pairs(),
        [spot.value],
        [text, text],
        Pairs([[text, spot.value]]),
        Pairs([["", spot.value]]),
        text,
    ]
    if isinstance(spot.value, Pairs):
        kinds += [
            [one[1] for one in spot.value],
            [one[0] for one in spot.value],
            Pairs([[one[1] if isinstance(one[1], str) else "y", one[0]] for one in spot.value]),
        ]
    elif isinstance(spot.value, list):
        kinds += [
            Pairs([[str(number), one] for number, one in enumerate(spot.value)]),
            spot.value[0] if spot.value else "",
        ]
    elif re.fullmatch(r"-?\d{1,30}", text):
        kinds += [int(text), float(text), Raw(text + ".0"), "0" + text, f" {text}", hex(int(text))]
    spot.holder[spot.index] = clone(spot.random.choice(kinds))


def _delete(spot: Spot) -> None:
    if spot.key is None:
        del spot.holder[spot.index]
        return
    for parent in _mappings(spot.tree):
        if any(pair is spot.holder for pair in parent):
            parent[:] = [pair for pair in parent if pair is not spot.holder]
            return


def _mappings(tree: Tree) -> list[Pairs]:
    found = [tree] if isinstance(tree, Pairs) else []
    return found + [holder[index] for holder, index, _ in nodes(tree) if isinstance(holder[index], Pairs)]


def _double(spot: Spot) -> None:
    if spot.key is None:
        spot.holder[spot.index : spot.index] = [clone(spot.value) for _ in range(spot.random.choice((1, 1, 2, 100)))]
        return
    parent = next(one for one in _mappings(spot.tree) if any(pair is spot.holder for pair in one))
    fresh = clone(spot.value) if spot.random.random() < 0.5 else clone(spot.vocabulary.value(spot.random, spot.key))
    name = spot.key if spot.random.random() < 0.4 else _edited_text(str(spot.key), spot.vocabulary, spot.random)
    parent.insert(spot.random.randint(0, len(parent)), [name, fresh])


def _rename(spot: Spot) -> None:
    if spot.key is None:
        return _replace(spot)
    chance = spot.random.random()
    if chance < 0.4 and spot.vocabulary.keys:
        spot.holder[0] = spot.random.choice(spot.vocabulary.keys)
    elif chance < 0.8:
        spot.holder[0] = _edited_text(str(spot.key), spot.vocabulary, spot.random)
    else:
        spot.holder[0] = spot.vocabulary.word(spot.random)
    return None


def _insert(spot: Spot) -> None:
    mappings = _mappings(spot.tree)
    if not mappings:
        return
    name = spot.random.choice(spot.vocabulary.keys) if spot.vocabulary.keys else spot.vocabulary.word(spot.random)
    into = spot.random.choice(mappings)
    into.insert(spot.random.randint(0, len(into)), [name, clone(spot.vocabulary.value(spot.random, name))])


def _splice(spot: Spot) -> None:
    theirs = [(where, at) for where, at, name in nodes(spot.donor)] if spot.donor is not None else []
    alike = (
        [(where, at) for where, at, name in nodes(spot.donor) if name == spot.key]
        if theirs and spot.key is not None
        else []
    )
    source = spot.random.choice(alike or theirs or [(one[0], one[1]) for one in spot.every])
    spot.holder[spot.index] = clone(source[0][source[1]])


def _swap(spot: Spot) -> None:
    other, at, _ = spot.random.choice(spot.every)
    there = clone(other[at])
    if len(spot.every) < 5000:
        other[at] = clone(spot.value)
        spot.holder[spot.index] = there


def _text(spot: Spot) -> None:
    texts = [
        (where, at)
        for where, at, _ in spot.every
        if isinstance(where[at], str | int) and not isinstance(where[at], bool)
    ]
    if not texts:
        return
    where, at = spot.random.choice(texts)
    made = _edited_text(str(where[at]), spot.vocabulary, spot.random)
    where[at] = int(made) if isinstance(where[at], int) and re.fullmatch(r"-?[0-9]{1,40}", made) else made


def _nest(spot: Spot) -> None:
    for _ in range(spot.random.choice((1, 2, 5, 90, 300))):
        spot.value = (
            [spot.value]
            if spot.random.random() < 0.5
            else Pairs([[spot.key if isinstance(spot.key, str) else "x", spot.value]])
        )
    spot.holder[spot.index] = spot.value


_TREE_EDITS: tuple[Callable[[Spot], None], ...] = (
    *(_usual, _replace, _retype, _delete, _double, _rename, _insert, _splice, _swap, _text, _nest),
)
_WEIGHTS = (4, 14, 14, 10, 8, 10, 10, 10, 4, 18, 0.3)
_GENTLE = (40, 0, 0, 15, 5, 0, 5, 20, 5, 10, 0)


def _edited_text(text: str, vocabulary: Vocabulary, random: Random) -> str:
    """Return a text with a piece, a number or a character changed."""
    pieces = _PIECES.split(text)
    chance = random.random()
    if chance < 0.25:
        return vocabulary.word(random)
    if chance < 0.5:
        pieces[random.randrange(len(pieces))] = vocabulary.word(random)
        return "".join(pieces)
    if chance < 0.6:
        del pieces[random.randrange(len(pieces))]
        return "".join(pieces)
    if chance < 0.7:
        at = random.randrange(len(pieces))
        pieces[at:at] = pieces[at : at + 2] * random.choice((1, 1, 1, 40))
        return "".join(pieces)
    if chance < 0.85 and (numbers := list(re.finditer(r"\d+", text))):
        one = random.choice(numbers)
        near = [*LIMITS, int(one[0][:30]) + 1, int(one[0][:30]) - 1, int(one[0][:30]) * 1000]
        return text[: one.start()] + str(random.choice(near)) + text[one.end() :]
    at = random.randint(0, len(text))
    return random.choice(
        (text[:at], text[at:], text[:at] + random.choice(NASTY) + text[at:], text.swapcase(), text * 2)
    )


# -------------------------------------------------------------------------------------------------------- lines


def edit_lines(lines: list[str], vocabulary: Vocabulary, donors: Sequence[str], random: Random) -> None:
    """Change one line, or the order or number of lines."""
    if not lines:
        lines.append("")
    at = random.randrange(len(lines))
    line = lines[at]
    pool = donors if donors and random.random() < 0.4 else vocabulary.lines or [""]
    match random.randrange(16):
        case 0:
            del lines[at]
        case 1:
            lines.insert(random.randint(0, len(lines)), line)
        case 2:
            other = random.randrange(len(lines))
            lines[at], lines[other] = lines[other], line
        case 3 | 4 | 5:
            lines.insert(at + 1, random.choice(pool))
        case 6:
            start = random.randrange(len(pool))
            lines[at:at] = pool[start : start + random.randint(1, 12)]
        case 7:
            lines[at] = line[: random.randint(0, len(line))]
        case 8 if random.random() < 0.2:
            del lines[at + 1 :]
        case 9:
            lines[at] = random.choice(("", " ", "  ", "\t", "no ", "!", "# ")) + line.strip()
        case 10:
            start = random.randrange(len(lines))
            del lines[start : start + random.randint(1, 6)]
        case _:
            lines[at] = _edited_line(line, vocabulary, pool, random)


def _edited_line(line: str, vocabulary: Vocabulary, pool: Sequence[str], random: Random) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    words = line.split()
    if not words:
        return random.choice(pool)
    at = random.randrange(len(words))
    match random.randrange(8):
        case 0:
            del words[at]
        case 1:
            words.insert(at, words[at])
        case 2:
            del words[at:]
        case 3:
            words[at] = vocabulary.word(random)
        case 4:
            words.insert(at, vocabulary.word(random))
        case 5:
            theirs = random.choice(pool).split()
            words[at:] = theirs[at:] if random.random() < 0.5 else theirs
        case 6:
            words[at] = _edited_text(words[at], vocabulary, random)
        case _:
            other = random.randrange(len(words))
            words[at], words[other] = words[other], words[at]
    return indent + " ".join(words)


# -------------------------------------------------------------------------------------------------------- bytes


def edit_bytes(raw: bytes, random: Random) -> bytes:
    """Return a text with some bytes changed, put in, taken out or said twice."""
    at = random.randint(0, len(raw))
    end = min(len(raw), at + random.choice((1, 1, 2, 4, 16, 100)))
    match random.randrange(7):
        case 0:
            return raw[:at] + raw[end:]
        case 1:
            return raw[:at] + raw[at:end] * random.choice((2, 2, 50)) + raw[end:]
        case 2:
            return raw[:at] + bytes(random.randrange(256) for _ in range(end - at)) + raw[end:]
        case 3:
            return raw[:at] + random.choice(NASTY).encode("utf-8", "surrogatepass") + raw[at:]
        case 4 if numbers := list(_NUMBER.finditer(raw)):
            one = random.choice(numbers)
            return raw[: one.start()] + str(random.choice(LIMITS)).encode() + raw[one.end() :]
        case 5 if raw and at < len(raw):
            return raw[:at] + bytes([raw[at] ^ (1 << random.randrange(8))]) + raw[at + 1 :]
        case _:
            return raw[:at] if random.random() < 0.3 else raw[:at] + raw[end:] + raw[at:end]
