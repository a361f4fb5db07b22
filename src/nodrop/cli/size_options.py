"""The options of commands that size a fabric."""

import functools
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from nodrop.cli.options import OptionDecorator, grouped_option, unknown_word_message

if TYPE_CHECKING:
    from nodrop.sizing.fabric import MaxCableLengths
    from nodrop.sizing.request import SizeRequest, StorageRequest

_T = TypeVar("_T")
SIZE, SWITCHES = "Size", "Switches"
DEFAULT_MODEL, DEFAULT_NIC = "SN4700", "ConnectX-7"
_MOST_HOSTS = 100_000


class PlatformOption(click.Option):
    """An option whose default is the default platform, found when it is needed."""

    def get_default(self, ctx: click.Context, call: bool = True) -> str:
        """Return the platform."""
        from nodrop import platforms

        return platforms.default_platform()


class _SizeOptions(NamedTuple):
    """The options, as the command line has them."""

    gpus: int | None
    gpus_of_server: int | None
    nics: int | None
    rails: bool
    rails_per_leaf: int | None
    speed: str | None
    ratio: str | None
    storage: str | None
    lengths: str | None
    platform: str
    leaf: str
    spine: str | None
    storage_leaf: str | None
    nic: str | None


def add_size_options(*, needs_gpus: bool) -> Callable[[Callable[..., _T]], Callable[..., _T]]:
    """Add the options that say what a fabric carries and is made of; the command gets a `request`.

    Without --gpus, which `needs_gpus` requires, the request is None, and `platform` and `leaf` are passed as they are.
    """

    def with_options(function: Callable[..., _T]) -> Callable[..., _T]:
        @functools.wraps(function)
        def command(**given: Any) -> _T:
            words = _SizeOptions(*(given.pop(name) for name in _SizeOptions._fields))
            _require_known_words(words)
            if words.gpus is None:
                _refuse_size_options_without_gpus(click.get_current_context())
            request = None if words.gpus is None else _build_size_request(words.gpus, words)
            return function(request=request, platform=words.platform, leaf=words.leaf, **given)

        for add in reversed(_size_options(needs_gpus)):
            command = add(command)
        return command

    return with_options


def compute_for_request(compute: Callable[..., _T], request: "SizeRequest", **given: str) -> _T:
    """Return what is computed for a request; UsageError where no fabric carries its hosts."""
    from nodrop.sizing.counting import CannotSize

    try:
        return compute(request, **given)
    except CannotSize as refusal:
        raise click.UsageError(refusal.reason) from None


def _size_options(needs_gpus: bool) -> tuple[OptionDecorator, ...]:
    from nodrop.cli.completing import complete_models

    whole = click.IntRange(1, _MOST_HOSTS)
    return (
        grouped_option(SIZE, "--gpus", type=whole, metavar="N", required=needs_gpus, help="GPUs of the fabric."),
        grouped_option(
            SIZE, "--gpus-of-server", type=click.IntRange(1, 64), metavar="N", help="GPUs in a server.  [default: 8]"
        ),
        grouped_option(
            SIZE,
            "--nics",
            type=click.IntRange(1, 64),
            metavar="N",
            help="Network ports of a server.  [default: 8]",
        ),
        grouped_option(SIZE, "--rails", is_flag=True, help="Connect port k of every server to the leaf of rail k."),
        grouped_option(
            SIZE,
            "--rails-per-leaf",
            type=click.IntRange(1, 64),
            metavar="N",
            help="Rails that share a leaf, which saves leaves in small fabrics.  [default: 1]",
        ),
        grouped_option(
            SIZE,
            "--speed",
            metavar="SPEED",
            help="Speed of these ports, such as 400G.  [default: the fastest of NIC and leaf]",
        ),
        grouped_option(
            SIZE,
            "--ratio",
            metavar="N:1",
            help="Most bandwidth down for each bit up at a leaf, such as 2:1.  [default: 1:1]",
        ),
        grouped_option(
            SIZE,
            "--storage",
            metavar="NxPxSPEED",
            help="Storage nodes, ports of each and their speed, such as 16x2x400G, on separate leaves.",
        ),
        grouped_option(
            SIZE,
            "--lengths",
            metavar="M,M,M",
            help="Longest cables from hosts, from leaves and from spines.  [default: 5m,30m,100m]",
        ),
        grouped_option(
            SWITCHES,
            "--leaf",
            "--model",
            "leaf",
            metavar="MODEL",
            default=DEFAULT_MODEL,
            show_default=True,
            shell_complete=complete_models,
            help="Model of the leaves.",
        ),
        grouped_option(
            SWITCHES,
            "--spine",
            metavar="MODEL",
            shell_complete=complete_models,
            help="Model of the switches above.  [default: as --leaf]",
        ),
        grouped_option(
            SWITCHES,
            "--storage-leaf",
            metavar="MODEL",
            shell_complete=complete_models,
            help="Model of the leaves of storage nodes.  [default: as --leaf]",
        ),
        grouped_option(SWITCHES, "--nic", metavar="MODEL", help=f"NIC of all hosts.  [default: {DEFAULT_NIC}]"),
        click.option("--platform", cls=PlatformOption, show_default=True, metavar="NAME", help="Network OS."),
    )


def _require_known_words(words: _SizeOptions) -> None:
    """Refuse platforms, models and NICs that the catalogue lacks, and models that cannot be designed for."""
    from nodrop import platforms
    from nodrop.hardware import buildable_models, find_design_obstacle, nics, switch, switches

    _require_known_word("--platform", words.platform, platforms.writable_platforms())
    models = {"--leaf": words.leaf, "--spine": words.spine, "--storage-leaf": words.storage_leaf}
    for option_name, name in models.items():
        if name is not None:
            _require_known_word(option_name, name, switches(), kind="model")
            if (reason := find_design_obstacle(switch(name), words.platform)) is not None:
                known = ", ".join(buildable_models(words.platform))
                raise click.BadParameter(f"{reason}; known: {known}", param_hint=f"'{option_name}'")
    if words.nic is not None:
        _require_known_word("--nic", words.nic, nics(), kind="NIC")


def _require_known_word(option_name: str, word: str, known_words: Iterable[str], *, kind: str = "platform") -> None:
    if word not in known_words:
        raise click.BadParameter(unknown_word_message(kind, word, known_words), param_hint=f"'{option_name}'")


def _refuse_size_options_without_gpus(context: click.Context) -> None:
    """Refuse options about the size without --gpus."""
    for name in _SizeOptions._fields:
        if name not in ("gpus", "platform", "leaf") and context.params.get(name):
            raise click.UsageError(f"--{name.replace('_', '-')} needs --gpus")


def _build_size_request(gpus: int, words: _SizeOptions) -> "SizeRequest":
    from nodrop.sizing.fabric import MaxCableLengths
    from nodrop.sizing.request import SizeRequest

    return SizeRequest(
        gpus=gpus,
        gpus_of_server=words.gpus_of_server or 8,
        ports=words.nics or 8,
        rails=words.rails,
        rails_per_leaf=_rails_per_leaf(words.rails, words.rails_per_leaf),
        platform=words.platform,
        leaf=words.leaf,
        spine=words.spine or words.leaf,
        storage_leaf=words.storage_leaf or words.leaf,
        nic=words.nic or DEFAULT_NIC,
        speed_mbps=None if words.speed is None else _parse_speed("--speed", words.speed),
        ratio=Fraction(1) if words.ratio is None else _parse_ratio(words.ratio),
        storage=None if words.storage is None else _parse_storage(words.storage),
        lengths=_parse_lengths(words.lengths) if words.lengths else MaxCableLengths(),
    )


def _rails_per_leaf(rails: bool, stated: int | None) -> int:
    if stated is not None and not rails:
        raise click.UsageError("--rails-per-leaf needs --rails")
    return stated or 1


def _parse_speed(option_name: str, text: str) -> int:
    from nodrop.units import MalformedText, parse_speed_mbps

    try:
        return parse_speed_mbps(text)
    except MalformedText as error:
        raise click.BadParameter(f"{text!r}: {error}", param_hint=f"'{option_name}'") from None


def _parse_ratio(text: str) -> Fraction:
    """Read `2:1`, `1.5:1` or `2`."""
    from nodrop.units import MalformedText, parse_number

    try:
        ratio = Fraction(str(parse_number(text.removesuffix(":1"))))
    except MalformedText:
        ratio = Fraction(0)
    if not Fraction(1, 100) <= ratio <= 1000:
        raise click.BadParameter(f"{text!r}; expected a ratio such as 1:1 or 2:1", param_hint="'--ratio'")
    return ratio


def _parse_storage(text: str) -> "StorageRequest":
    """Read `16x2x400G`."""
    from nodrop.sizing.request import StorageRequest
    from nodrop.units import parse_whole_number

    nodes, ports, speed = text.split("x") if text.count("x") == 2 else ("", "", "")
    counts = parse_whole_number(nodes, _MOST_HOSTS), parse_whole_number(ports, 64)
    if not counts[0] or not counts[1]:
        raise click.BadParameter(
            f"{text!r}; expected nodes, ports and speed such as 16x2x400G", param_hint="'--storage'"
        )
    return StorageRequest(counts[0], counts[1], _parse_speed("--storage", speed))


def _parse_lengths(text: str) -> "MaxCableLengths":
    """Read `5m,30m,100m`."""
    from nodrop.sizing.fabric import MaxCableLengths
    from nodrop.units import MalformedText, parse_length_m

    try:
        lengths = tuple(map(parse_length_m, text.split(",")))
    except MalformedText:
        lengths = ()
    if len(lengths) != len(MaxCableLengths._fields) or not all(lengths):
        raise click.BadParameter(f"{text!r}; expected three lengths such as 5m,30m,100m", param_hint="'--lengths'")
    return MaxCableLengths(*lengths)
