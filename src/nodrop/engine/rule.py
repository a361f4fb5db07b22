"""A rule: a fault, how to detect it, and its message. Plain data; its functions are made on first use."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import chain
from typing import Any, Literal

from nodrop.engine import compiler
from nodrop.engine.cells import EACH_ITEM_ALONE, GroupingColumn, grouping_columns
from nodrop.engine.evidence import FABRIC_TOPICS, EvidenceTopic
from nodrop.engine.finding import Confidence, Severity
from nodrop.engine.names_read import find_attribute_names_used_by_code
from nodrop.engine.nodes import (
    Attribute,
    Call,
    Logic,
    ModelPath,
    Name,
    Node,
    Not,
    deciding_paths_of,
    facts_used_by,
    model_path_of,
    paths_read_by,
    paths_read_whole,
    walk_nodes,
)
from nodrop.engine.scopes import Scope
from nodrop.identity import IdentityMap
from nodrop.model.fabric import Device, Link, Mode
from nodrop.model.types import ValueType

Strictness = Literal["regular", "pedantic", "auditor"]
STRICTNESSES: tuple[Strictness, ...] = ("regular", "pedantic", "auditor")


ANY_PLATFORM = ""
"""Stands for all platforms in `no_commands`."""
TypedLines = Mapping[str, tuple[tuple[str | Node, ...], ...]]
"""The pieces of each command, by what takes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOption:
    """A number or word of a rule that a site may set: `options: {rule: {name: value}}`."""

    name: str
    default: object
    description: str
    type: ValueType


@dataclass(frozen=True, slots=True)
class OptionArgument:
    """An argument of an analysis that is the value of an option."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleExample:
    """A change of a sound fabric, and the subjects at which the rule then finds its fault; none in a good example.

    `intent`, `model` and `artifact` give the changes, on the level that each names; after `artifact`, no `model`.
    """

    name: str
    """`bad[0]`, `good[1]`."""
    at: tuple[str, ...] = ()
    intent: Mapping[str, Any] | None = None
    model: Mapping[str, Any] | None = None
    artifact: Mapping[str, Any] | None = None
    beside: Mapping[str, Any] | None = None
    """The other fabric, of a rule that compares fabrics: changes of `intent` and `model`, `one_site` and `cables`."""
    seen: Mapping[str, Any] | None = None
    """What a validator sees otherwise, of a rule about that: parts of the `model`, lines that it has `refused`, packets
    `lost` since the build before, `values` of checks; of all else it sees what nodrop computes."""

    @property
    def kind(self) -> str:
        """`bad` or `good`."""
        return self.name.partition("[")[0]

    @property
    def keys(self) -> tuple[str | int, ...]:
        """Its place in the rule's file."""
        return "examples", self.kind, int(self.name.partition("[")[2].rstrip("]"))


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule file. Exactly one of `claim`, `analysis` and `remark` defines where the fault is seen.

    `claim` holds where all is well. `analysis` names a module of `nodrop.analyses` that finds the fault, given
    `arguments`. `remark` names a kind of remark that readers make. `when` narrows any of the three.
    """

    name: str
    area: str
    path: str
    severity: Severity
    severity_if_stated: Severity | None
    """The severity where `stated` holds; None is the same."""
    stated: Node | None
    """Whether the owner states what is at fault, in an intent or in fabric.yaml."""
    severity_if_assumed: Severity | None
    """The severity where one of `assumed` is not stated; None is the same."""
    assumed: tuple[tuple[EvidenceTopic, Node | None], ...]
    """What nodrop may have assumed because no file states it, and the condition under which the files show it."""
    confidence: Confidence
    because: str
    """Why the rule alone is not certain."""
    strictness: Strictness
    modes: frozenset[Mode]
    scope: Scope
    when: Node | None
    claim: Node | None
    analysis: str
    arguments: Mapping[str, object]
    rests_on: frozenset[str]
    """What the analysis takes from the owner's statements."""
    routed: bool
    """Whether the analysis needs the control plane."""
    failures: bool
    """Whether the analysis computes failures of cables or switches: `nodrop validate` runs it, `nodrop lint` not."""
    observed: bool
    """Whether the analysis reads results of other validators: only `nodrop validate` with one of them runs it."""
    beside: bool
    """Whether the analysis compares the fabric with others of the same command, and finds nothing without any."""
    looks_near: bool
    """Whether what the analysis says of a switch follows from that and what is cabled to it."""
    looks_at: frozenset[str]
    """The attributes of switches and ports that the analysis reads; nothing where it does not say."""
    gives_changes: bool
    """Whether the analysis says what would end a fault."""
    remark: str
    facts: tuple[tuple[str, ValueType], ...]
    at: Attribute | Name | None
    message: tuple[str | Node, ...]
    why: str
    fix: tuple[str | Node, ...]
    commands: TypedLines
    """What to type, by language, where the changes of a fix do not say it; a slot stands for the finding's port."""
    condition: str
    """The case that commands and changes are for, as `if no filter is wanted`; "" where they end it in any."""
    check_first: TypedLines
    """What shows which case it is, by language."""
    otherwise: TypedLines
    after: tuple[str, ...]
    """The rules whose findings on the same switch are corrected first, where it is known what to type for them."""
    """What to type in the other case, by language."""
    no_commands: Mapping[str, str]
    """Why findings have no commands, by platform or for `ANY_PLATFORM`; empty where all have some."""
    references: tuple[str, ...]
    since: str
    aliases: tuple[str, ...]
    options: tuple[RuleOption, ...]
    changes: tuple[tuple[Attribute, Node], ...]
    default_changes: tuple[tuple[Attribute, Node], ...]
    """What a fix sets where neither `changes` nor siblings say anything."""
    default_safe_if: Node | None
    """Under which condition `default_changes` cannot make anything worse; None is never."""
    as_siblings: tuple[ModelPath, ...]
    """What a fix makes as most sound siblings have it; of an analysis, nothing but the part that it points at: ()."""
    as_siblings_if: Node | None
    """What must be true of a port once it is like its siblings, if that is to be a fix; None is nothing more."""
    siblings_first: bool
    """Whether `changes` are only for where siblings tell nothing: what the rule file has first goes first."""
    fix_safe: bool
    """Whether `changes`, or those of the analysis, cannot make anything worse."""
    intent_fix: Mapping[str, object]
    unseen: Mapping[str, str]
    """Platforms of which no configuration shows the fault, and why."""
    examples: tuple[RuleExample, ...]
    held: bytes | None = None
    """Its text, where that is not what lies at `path`."""

    def __getstate__(self) -> dict[str, object]:
        """Leave out the parts made on first use, because functions do not travel between processes."""
        stored = self.__dataclass_fields__
        return {name: value for name, value in self.__dict__.items() if name in stored}

    @property
    def selectors(self) -> frozenset[str]:
        """What `--select` and `--ignore` may call it: its names, and its area."""
        return frozenset({self.name, self.area, *self.aliases})

    @property
    def has_known_changes(self) -> bool:
        """Whether its fix names the change to make, where that is known."""
        return bool(self.changes_switch_configurations or self.intent_fix)

    @property
    def changes_switch_configurations(self) -> bool:
        """Whether its fix names changes to the configurations of switches, and not to an intent alone."""
        return bool(self.changes or self.default_changes or self.as_siblings or self.gives_changes)

    @property
    def conditions(self) -> tuple[Node, ...]:
        """The expressions that decide."""
        return tuple(node for node in (self.when, self.claim) if node is not None)

    @cached_property
    def deciding_paths(self) -> frozenset[ModelPath]:
        """The paths that decide, as they are written, and the fields behind properties."""
        return frozenset().union(*map(paths_read_by, self.conditions))

    @cached_property
    def pointed_path(self) -> ModelPath:
        """The path to point at; nothing for the subject itself."""
        return (model_path_of(self.at) or ()) if self.at else ()

    @cached_property
    def read_paths_and_subtrees(self) -> tuple[frozenset[ModelPath], frozenset[ModelPath]]:
        """Return the paths that a verdict rests on, and the paths below which it may have read anything."""
        pointed = {self.pointed_path} if self.pointed_path else set()
        return self.deciding_paths | pointed, frozenset().union(*map(paths_read_whole, self.conditions))

    @cached_property
    def names_read_whole(self) -> frozenset[str]:
        """Return the fields that its words may read below the objects that they receive."""
        words = {call.word for call in self._called_words if any(not given.type.is_scalar for given in call.arguments)}
        return frozenset[str]().union(*(find_attribute_names_used_by_code(word.function) for word in words))

    @cached_property
    def needs_only_cabled_neighbors(self) -> bool:
        """Whether its verdict on a switch follows from the switch, its cabled neighbors, and the owner's statements."""
        if self.claim is None:
            return self.looks_near
        nodes = (*self.conditions, *self.message_nodes, *self.command_nodes)
        read_paths = (read_path[:2] for node in nodes for read_path in paths_read_by(node))
        words = (call.word for node in nodes for call in walk_nodes(node) if isinstance(call, Call))
        return (
            Device in self.scope.parts.values()
            and not any(read_path in (("fabric", "devices"), ("fabric", "links")) for read_path in read_paths)
            and not any(word.whole for word in words)
        )

    @cached_property
    def decides_from_switch_alone(self) -> bool:
        """Whether its findings on a switch follow from that and the owner's statements, cables and neighbors apart.

        What shows that an assumption about the fabric is true may read all switches, as fixes from siblings do.
        """
        of_parts = (unless for topic, unless in self.assumed if topic not in FABRIC_TOPICS)
        stated = (node for node in (self.stated, *of_parts) if node is not None)
        nodes = (*self.conditions, *self.message_nodes, *self.command_nodes, *self._changing_nodes, *stated)
        calls = (call for node in nodes for call in walk_nodes(node) if isinstance(call, Call))
        return (
            self.claim is not None
            and self.needs_only_cabled_neighbors
            and Link not in self.scope.parts.values()
            and not any(call.word.indexed or call.word.whole for call in calls)
        )

    @cached_property
    def deciding_attributes(self) -> frozenset[str] | None:
        """The attributes of switches and ports that decide, besides cables and statements; None where not known.

        They are known of an analysis that declares them, and of an expression whose words receive numbers and texts.
        """
        if self.assumed or self.stated is not None or self.reads_other_findings or self.remark:
            return None
        if self.claim is None:
            return self.looks_at or None
        paths = [path for path in self.deciding_paths if path[0] in self.scope.parts]
        indexed = any(call.word.indexed or call.word.whole for call in self._called_words)
        given_parts = any(len(path) < 2 for path in paths) or any(path[0] == "fabric" for path in self.deciding_paths)
        if indexed or given_parts or self.scope.name not in ("device", "interface", "link"):
            return None
        return frozenset(path[1] for path in paths)

    @cached_property
    def reads_other_findings(self) -> bool:
        """Whether it reads the findings of other rules."""
        return any(call.word.last for call in self._called_words)

    @cached_property
    def depends_on_remarks_only(self) -> bool:
        """Whether its verdict on a remark follows from the remark, and not from the fabric, which includes the mode."""
        stated = (node for node in (self.stated, *(unless for _, unless in self.assumed)) if node is not None)
        every = [
            inner_node for node in (*self.conditions, *self.message_nodes, *stated) for inner_node in walk_nodes(node)
        ]
        return bool(self.remark) and not any(
            (isinstance(inner_node, Name) and inner_node.name == "fabric")
            or (isinstance(inner_node, Call) and inner_node.word.indexed)
            for inner_node in every
        )

    @cached_property
    def _called_words(self) -> tuple[Call, ...]:
        return tuple(node for condition in self.conditions for node in walk_nodes(condition) if isinstance(node, Call))

    @cached_property
    def topics(self) -> frozenset[str]:
        """Return the topics that this rule takes for true and that the owner may have stated or nodrop assumed."""
        stated = {name for root, *names in self.deciding_paths for name in names[:1] if root == "fabric"}
        words = (call.word.rests_on for call in self._called_words)
        return self.rests_on | self.scope.topics | stated | frozenset().union(*words)

    @cached_property
    def message_nodes(self) -> tuple[Node, ...]:
        """The expressions of the message and of the fix."""
        return tuple(piece for piece in (*self.message, *self.fix) if not isinstance(piece, str))

    @property
    def command_nodes(self) -> Iterator[Node]:
        """The expressions of the commands."""
        lines = chain(*self.commands.values(), *self.check_first.values(), *self.otherwise.values())
        return (piece for piece in chain.from_iterable(lines) if not isinstance(piece, str))

    def is_only_naming(self, node: Node) -> bool:
        """Whether a node yields only a name: the item's, or that of a naming word; other functions give more."""
        if isinstance(node, Call) and node.word.naming:
            return True
        looked_at = paths_read_by(node)
        only_identity = bool(looked_at) and all(read_path[:2] in self.scope.identity for read_path in looked_at)
        return only_identity and not any(
            isinstance(inner_node, Call) and inner_node.word.kind == "function" for inner_node in walk_nodes(node)
        )

    @cached_property
    def verdict_columns(self) -> tuple[GroupingColumn, ...]:
        """Return the columns that must be equal for two items to get the same verdict."""
        return grouping_columns(self.scope, frozenset().union(*map(deciding_paths_of, self.conditions)))

    @cached_property
    def shared_condition(self) -> Node | None:
        """The beginning of `when` that items may share, where the rest reads each by itself; it goes first."""
        node = self.when if self._is_unique_by(self.verdict_columns) else None
        while node is not None and self._is_unique_by(grouping_columns(self.scope, deciding_paths_of(node))):
            node = node.left if isinstance(node, Logic) and node.word == "and" else None
        return node

    def _is_unique_by(self, grouping_columns: tuple[GroupingColumn, ...]) -> bool:
        """Whether no two items are equal in these columns: they are read as a whole, or by switch and name."""
        part_names = list(self.scope.parts)
        own_name = "interface" if self.scope.rows else self.scope.name
        chosen_fields = {(part_names[column.part], column.field) for column in grouping_columns if column.part >= 0}
        return grouping_columns == EACH_ITEM_ALONE or chosen_fields >= {("device", "name"), (own_name, "name")}

    @cached_property
    def shared_condition_columns(self) -> tuple[GroupingColumn, ...]:
        """Return the columns that must be equal for two items to get the same result from the sieve."""
        return (
            grouping_columns(self.scope, deciding_paths_of(self.shared_condition))
            if self.shared_condition
            else EACH_ITEM_ALONE
        )

    @cached_property
    def finding_columns(self) -> tuple[GroupingColumn, ...]:
        """Return the further columns that must be equal for two items to be reported alike, apart from their names."""
        nodes: list[Node] = [*self.message_nodes, *self._changing_nodes]
        return grouping_columns(
            self.scope, frozenset().union(*(deciding_paths_of(node) for node in nodes if not self.is_only_naming(node)))
        )

    @property
    def _changing_nodes(self) -> Iterator[Node]:
        """The expressions of the changes that a fix makes, and of their condition."""
        yield from chain.from_iterable((*self.changes, *self.default_changes))
        yield from (node for node in (self.default_safe_if, self.as_siblings_if) if node is not None)

    @cached_property
    def facts_used(self) -> tuple[Attribute | Call, ...]:
        """Return the facts that the verdict and the message rest on, each once, in written order."""
        found_leaves = dict.fromkeys(
            leaf for node in (*self.conditions, *self.message_nodes) for leaf in facts_used_by(node)
        )
        return tuple(found_leaves)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The names that its functions are called with, in this order, before the index."""
        if self.claim is None:
            return ("facts", "fabric", "options")
        return (*self.scope.parts, "fabric", "options")

    @cached_property
    def check_function(self) -> Callable[..., list[compiler.ItemOutcome]]:
        """The function that checks items."""
        assert self.claim is not None
        return compiler.compile_check(tuple(self.scope.parts), ("fabric", "options"), self.when, self.claim)

    @cached_property
    def shared_condition_function(self) -> Callable[..., list[compiler.ItemOutcome]]:
        """Return the function that decides which items pass the sieve, and so are checked."""
        assert self.shared_condition is not None
        return compiler.compile_check(tuple(self.scope.parts), ("fabric", "options"), None, Not(self.shared_condition))

    def function_of_expression(self, node: Node) -> Callable[..., Any]:
        """Return the function that evaluates one of its expressions for one item."""
        function = self._functions_by_node.get(node)
        if function is None:
            function = self._functions_by_node[node] = self._value_function(node)
        return function

    @cached_property
    def _functions_by_node(self) -> IdentityMap[Node, Callable[..., Any]]:
        """The functions by identity of their nodes: hashing a node takes longer than most of them."""
        return IdentityMap()

    @cached_property
    def _value_function(self) -> Callable[[Node], Callable[..., Any]]:
        return cache(partial(compiler.compile_value, self.parameter_names))
