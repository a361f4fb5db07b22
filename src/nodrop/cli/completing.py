"""Completions for a shell at the tab key; found without loading a rule, because users do not wait for a tab."""

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

FILE_COMPLETION = CompletionItem("", type="file")
"""Says that files will do too."""


def complete_rules_and_areas(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer rules and areas; after a comma, the next one."""
    before, comma, word = begun.rpartition(",")
    return [
        CompletionItem(f"{before}{comma}{name}") for name in _words_with_prefix(word, (*_area_names(), *_rule_names()))
    ]


def complete_rules(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer rules, and files."""
    return [*map(CompletionItem, _words_with_prefix(begun, _rule_names())), FILE_COMPLETION]


def complete_profiles(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer profiles that are shipped, and files."""
    return [
        *map(CompletionItem, _words_with_prefix(begun, profile_names())),
        FILE_COMPLETION,
    ]


def profile_names() -> list[str]:
    """Return the names of the shipped profiles, sorted."""
    from nodrop.resources import resource_folder

    return sorted(path.stem for path in resource_folder("profiles").glob("*.yaml"))


def complete_platforms(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer platforms."""
    from nodrop import platforms

    return list(map(CompletionItem, _words_with_prefix(begun, platforms.platform_names())))


def complete_assumptions(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer what can be assumed."""
    from nodrop.model.fabric import MODES

    return list(map(CompletionItem, _words_with_prefix(begun, ("rdma=", *(f"mode={mode}" for mode in MODES)))))


def complete_models(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer models of switches; after an equals sign, the model of those that are named."""
    from nodrop.hardware import switches

    prefix, equals, word = begun.rpartition("=")
    return [CompletionItem(f"{prefix}{equals}{name}") for name in _words_with_prefix(word, switches())]


def complete_formats(_ctx: click.Context, _param: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer formats."""
    from nodrop.cli.options import REPORT_FORMATS

    return list(map(CompletionItem, _words_with_prefix(begun, REPORT_FORMATS)))


def _rule_names() -> list[str]:
    from nodrop.resources import resource_folder

    return [path.stem for path in resource_folder("rules").glob("*/*.yaml")]


def _area_names() -> list[str]:
    from nodrop.resources import resource_folder

    return sorted({path.parent.name for path in resource_folder("rules").glob("*/*.yaml")})


def _words_with_prefix(begun: str, words: Iterable[str]) -> list[str]:
    return sorted(word for word in words if word.startswith(begun))
