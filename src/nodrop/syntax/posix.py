"""POSIX extended regular expressions, matched in time linear in the text: the texts of configurations are hostile.

The syntax is the part that FRR's libraries agree on: regcomp of glibc (REG_EXTENDED; Debian's packages, SONiC), and
since FRR 10.3 PCRE2 (debian/rules, --enable-pcre2posix). Syntax that they read differently, or that either of them
refuses, is not compiled: back-references, `\\<`, `\\w`, a repeat of a repeat or of an anchor, `+` or `{2}` of a
group with an anchor in it (in glibc, the copies lose the anchor: `(_2)+1` matches 221), `{,n}`, an unmatched `)`, a
backslash in brackets, collating symbols, characters outside ASCII. Nor are expressions beyond the limits.

An expression becomes a nondeterministic automaton; all its states are followed at once (Thompson 1968). Sets of
reached states are remembered, up to a limit.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal

MAX_STATES = 2000
"""How many states an expression may have, the copies that `{m,n}` makes counted before they are made."""
MAX_EXPRESSION_CHARACTERS = 8192
"""How many characters an expression may have: FRR reads lines of so many (lib/vty.h, VTY_BUFSIZ)."""
MAX_GROUP_DEPTH = 50
"""How deep groups may be nested."""
MAX_REPEAT = 32767
"""The largest number in `{m,n}` (glibc, RE_DUP_MAX)."""
_CACHED_EXPRESSIONS = 256
"""How many expressions are kept compiled."""

_UPPER, _LOWER, _DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789"
_GRAPHIC_CHARACTERS = "".join(map(chr, range(33, 127)))
_CHARACTERS_BY_CLASS: Final = {
    "alnum": _UPPER + _LOWER + _DIGITS,
    "alpha": _UPPER + _LOWER,
    "blank": " \t",
    "cntrl": "".join(map(chr, (*range(32), 127))),
    "digit": _DIGITS,
    "graph": _GRAPHIC_CHARACTERS,
    "lower": _LOWER,
    "print": " " + _GRAPHIC_CHARACTERS,
    "punct": "".join(character for character in _GRAPHIC_CHARACTERS if not character.isalnum()),
    "space": " \t\n\v\f\r",
    "upper": _UPPER,
    "xdigit": _DIGITS + "abcdefABCDEF",
}
_CHARACTER_BITS_BY_CLASS: Final = {
    name: sum(1 << ord(member) for member in members) for name, members in _CHARACTERS_BY_CLASS.items()
}
"""The characters of a class, a bit for each code."""
_ALL_CHARACTER_BITS: Final = -1
_ESCAPABLE_CHARACTERS = frozenset("()[]{}.*+?^$|\\,-:/ ")
_REPETITION_CHARACTERS = "*+?{"


class _UncompilableExpression(Exception):
    """An expression is outside the syntax or the limits."""


@dataclass(frozen=True, slots=True)
class _RegexNode:
    """A part of an expression, and how many states it takes.

    `set` is one character of `characters`, a bit for each code; `begin` and `end` are the anchors.
    """

    kind: Literal["set", "begin", "end", "all", "any", "repeat"]
    states: int
    parts: tuple["_RegexNode", ...] = ()
    characters: int = 0
    low: int = 0
    high: int | None = 0

    @property
    def has_anchor(self) -> bool:
        """Whether there is an anchor in it."""
        return self.kind in ("begin", "end") or any(node.has_anchor for node in self.parts)


_BEGIN, _END, _EMPTY = _RegexNode("begin", 1), _RegexNode("end", 1), _RegexNode("all", 0)


class _RegexParser:
    """Reads an expression from left to right."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._depth = text, 0, 0

    def parse(self) -> _RegexNode:
        """Return the whole expression."""
        node = self._parse_alternatives()
        if self._at < len(self._text):  # a `)` that closes nothing: a character to glibc, an error to PCRE2
            raise _UncompilableExpression
        return node

    def _peek_character(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take_character(self) -> str:
        character = self._peek_character()
        self._at += 1
        if not character or not character.isascii() or not character.isprintable():
            raise _UncompilableExpression
        return character

    def _parse_alternatives(self) -> _RegexNode:
        branches = [self._parse_branch()]
        while self._peek_character() == "|":
            self._at += 1
            branches.append(self._parse_branch())
        if len(branches) == 1:
            return branches[0]
        return _RegexNode("any", sum(branch.states for branch in branches) + 1, tuple(branches))

    def _parse_branch(self) -> _RegexNode:
        nodes: list[_RegexNode] = []
        while self._peek_character() not in ("", "|", ")"):
            nodes.append(self._parse_repetition())
        return nodes[0] if len(nodes) == 1 else _RegexNode("all", sum(node.states for node in nodes), tuple(nodes))

    def _parse_repetition(self) -> _RegexNode:
        atom = self._parse_atom()
        if not self._peek_character() or self._peek_character() not in _REPETITION_CHARACTERS:
            return atom
        if atom.kind in ("begin", "end"):
            raise _UncompilableExpression
        copied = self._peek_character() in "+{"
        low, high = self._parse_bounds()
        if copied and atom.has_anchor:
            raise _UncompilableExpression
        if self._peek_character() and self._peek_character() in _REPETITION_CHARACTERS:
            raise _UncompilableExpression
        if high == 0:  # PCRE2 10.42 finds no `.` in `2.` with `(2|.*){0}\.`
            raise _UncompilableExpression
        if not atom.states:
            return _EMPTY
        copies = low * atom.states
        further_states = (0 if low else atom.states) + 1 if high is None else (high - low) * (atom.states + 1)
        return _RegexNode("repeat", copies + further_states, (atom,), low=low, high=high)

    def _parse_bounds(self) -> tuple[int, int | None]:
        match self._take_character():
            case "*":
                return 0, None
            case "+":
                return 1, None
            case "?":
                return 0, 1
        low, high = self._parse_number(), None
        if self._peek_character() == ",":
            self._at += 1
            high = None if self._peek_character() == "}" else self._parse_number()
        else:
            high = low
        if self._take_character() != "}" or (high is not None and high < low):
            raise _UncompilableExpression
        return low, high

    def _parse_number(self) -> int:
        digits = ""
        while self._peek_character() and self._peek_character() in "0123456789" and len(digits) < 6:
            digits += self._take_character()
        if not digits or int(digits) > MAX_REPEAT:
            raise _UncompilableExpression
        return int(digits)

    def _parse_atom(self) -> _RegexNode:
        match character := self._take_character():
            case "(":
                return self._parse_group()
            case "[":
                return self._parse_bracket_expression()
            case "^":
                return _BEGIN
            case "$":
                return _END
            case ".":
                return _RegexNode("set", 1, characters=_ALL_CHARACTER_BITS)
            case "*" | "+" | "?" | "{":  # nothing stands before it to be repeated
                raise _UncompilableExpression
            case "\\":
                character = self._take_character()
                if character not in _ESCAPABLE_CHARACTERS:
                    raise _UncompilableExpression
        return _RegexNode("set", 1, characters=1 << ord(character))

    def _parse_group(self) -> _RegexNode:
        self._depth += 1
        if self._depth > MAX_GROUP_DEPTH:
            raise _UncompilableExpression
        node = self._parse_alternatives()
        if self._take_character() != ")":
            raise _UncompilableExpression
        self._depth -= 1
        # An anchor in a group can be repeated, one by itself cannot.
        return _RegexNode("all", node.states, (node,)) if node.kind in ("begin", "end") else node

    def _parse_bracket_expression(self) -> _RegexNode:
        """Return the set of a bracket expression, whose `[` has been taken."""
        negated = self._peek_character() == "^"
        self._at += negated
        if self._peek_character() and self._peek_character() in ":.=":  # PCRE2 takes `[.1.]` for a collating symbol
            raise _UncompilableExpression
        begin, character_mask = self._at, 0
        while self._peek_character() != "]" or self._at == begin:
            character_mask |= self._parse_bracket_member(first=self._at == begin)
        self._at += 1
        return _RegexNode("set", 1, characters=~character_mask if negated else character_mask)

    def _parse_bracket_member(self, *, first: bool) -> int:
        """Return a member of a bracket expression: a class, a range or a character."""
        character, after = self._take_character(), self._peek_character()
        if character == "\\":  # a character to glibc, an escape to PCRE2
            raise _UncompilableExpression
        if character == "[" and after and after in ":.=":
            return self._parse_character_class()
        if character == "-" and not first and after != "]":
            raise _UncompilableExpression
        if after != "-" or self._text[self._at + 1 : self._at + 2] == "]":
            return 1 << ord(character)
        self._at += 1
        last = self._take_character()
        if character == "-" or last in "-[\\" or last < character:
            raise _UncompilableExpression
        return sum(1 << code for code in range(ord(character), ord(last) + 1))

    def _parse_character_class(self) -> int:
        name, closed, _ = self._text[self._at + 1 : self._at + 9].partition(":]")
        if self._peek_character() != ":" or not closed or name not in _CHARACTER_BITS_BY_CLASS:
            raise _UncompilableExpression
        self._at += len(name) + 3
        if self._peek_character() == "-" and self._text[self._at + 1 : self._at + 2] != "]":
            raise _UncompilableExpression
        return _CHARACTER_BITS_BY_CLASS[name]


@dataclass(slots=True)
class _StateSet:
    """A set of states: those that wait for a character, and whether the expression has matched."""

    waiting: tuple[int, ...]
    matched: bool
    matched_at_end: bool
    next: dict[str, "_StateSet"] = field(default_factory=dict)


class PosixRegularExpression:
    """A compiled expression; its automaton is made when a text is matched for the first time."""

    MOST_REMEMBERED: Final = 20_000
    """How many states the sets that are remembered may have together."""

    def __init__(self, root: _RegexNode) -> None:
        self._root = root
        self.states = root.states + 1
        """How many states it has."""
        self.visited = 0
        """How many states were visited to match texts: the work that was done."""
        self.remembered = 0
        """How many states the sets have that are remembered."""
        self._characters: list[int | None] = []
        self._follow: list[tuple[int, ...]] = []
        self._known: dict[frozenset[int], _StateSet] = {}
        self._begin: _StateSet | None = None

    def matches_anywhere(self, text: str) -> bool:
        """Whether a part of a text is one that the expression describes."""
        if self._begin is None:
            self._build_automaton()
        begin = self._begin
        assert begin is not None
        for character in text:
            if begin.matched:
                return True
            after = begin.next.get(character)
            if after is None:
                after = begin.next[character] = self._states_after_character(begin, character)
            begin = after
        return begin.matched or begin.matched_at_end

    def _build_automaton(self) -> None:
        """Make the automaton: state 0 is the match, the last one made is where the expression begins."""
        self._characters, self._follow = [None], [()]
        self._entry = self._add_node_states(self._root, 0)
        self._begin = self._compute_closure({self._entry}, begin=True)

    def _add_automaton_state(self, characters: int | None, *follow: int) -> int:
        self._characters.append(characters)
        self._follow.append(follow)
        return len(self._follow) - 1

    def _add_node_states(self, node: _RegexNode, after: int) -> int:
        """Make the states of a part in front of a state, and return the first of them."""
        match node.kind:
            case "set":
                return self._add_automaton_state(node.characters, after)
            case "begin":
                return self._add_automaton_state(None, _AT_BEGIN, after)
            case "end":
                return self._add_automaton_state(None, _AT_END, after)
            case "all":
                for child_node in reversed(node.parts):
                    after = self._add_node_states(child_node, after)
                return after
            case "any":
                return self._add_automaton_state(None, *(self._add_node_states(branch, after) for branch in node.parts))
        (child_node,) = node.parts
        first_state = after
        if node.high is None:
            again = self._add_automaton_state(None)
            entered = self._add_node_states(child_node, again)
            self._follow[again] = (entered, after)
            first_state = entered if node.low else again
        for _ in range(0 if node.high is None else node.high - node.low):
            first_state = self._add_automaton_state(None, self._add_node_states(child_node, first_state), after)
        for _ in range(node.low - (node.high is None and node.low > 0)):
            first_state = self._add_node_states(child_node, first_state)
        return first_state

    def _states_after_character(self, start_states: _StateSet, character: str) -> _StateSet:
        """Return the states reached by a character; the expression may also begin behind it."""
        code = ord(character)
        self.visited += len(start_states.waiting)
        seeds = {self._follow[state][0] for state in start_states.waiting if (self._characters[state] or 0) >> code & 1}
        seeds.add(self._entry)
        key = frozenset(seeds)
        closure = self._known.get(key)
        if closure is None:
            closure = self._compute_closure(seeds, begin=False)
            size = len(key) + len(closure.waiting) + 1
            if self.remembered + size > self.MOST_REMEMBERED:
                self._known.clear()
                self.remembered = 0
                assert self._begin is not None
                self._begin.next.clear()
                start_states.next.clear()
            self._known[key] = closure
            self.remembered += size
        return closure

    def _compute_closure(self, seeds: set[int], *, begin: bool) -> _StateSet:
        """Return the states reached from some states without a character."""
        waiting: list[int] = []
        seen, behind = set(seeds), set[int]()
        todo = list(seeds)
        while todo:
            state = todo.pop()
            follow = self._follow[state]
            if self._characters[state] is not None:
                waiting.append(state)
                continue
            if follow[:1] == (_AT_END,):
                behind.add(follow[1])
                continue
            if follow[:1] == (_AT_BEGIN,):
                follow = follow[1:] if begin else ()
            further_follows = [next_state for next_state in follow if next_state not in seen]
            seen.update(further_follows)
            todo += further_follows
        at_end = self._matches_at_end(behind, seen, begin=begin)
        self.visited += len(seen)
        return _StateSet(tuple(waiting), 0 in seen, at_end or 0 in seen)

    def _matches_at_end(self, behind: set[int], seen: set[int], *, begin: bool) -> bool:
        """Whether the match is reached where the text ends, from states behind an anchor of the end."""
        todo = [candidate for candidate in behind if candidate not in seen]
        also = set(todo)
        while todo:
            state = todo.pop()
            follow = () if self._characters[state] is not None else self._follow[state]
            if follow[:1] in ((_AT_END,), (_AT_BEGIN,)):
                follow = follow[1:] if begin or follow[0] == _AT_END else ()
            further_follows = [next_state for next_state in follow if next_state not in seen and next_state not in also]
            also.update(further_follows)
            todo += further_follows
        self.visited += len(also)
        return 0 in also or 0 in (behind & seen)


_AT_BEGIN, _AT_END = -1, -2
"""In front of what follows a state that is an anchor."""


@lru_cache(maxsize=_CACHED_EXPRESSIONS)
def compile_posix_regex(text: str) -> PosixRegularExpression | None:
    """Return a compiled expression; None where nothing is known of it: outside the syntax, or the limits."""
    if len(text) > MAX_EXPRESSION_CHARACTERS:
        return None
    try:
        root = _RegexParser(text).parse()
    except _UncompilableExpression:
        return None
    return PosixRegularExpression(root) if root.states < MAX_STATES else None
