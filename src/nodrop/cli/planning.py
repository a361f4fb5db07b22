"""Options of commands that report the differences between two states."""

from nodrop.cli.options import OUTPUT, OptionDecorator, WordChoice, folder_option, grouped_option


def patch_option(purpose: str) -> OptionDecorator:
    """Add --patch to a command; the `purpose`, a verb with its object, ends the option's help."""
    return folder_option(
        "--patch",
        help=f"Write to DIR, for each switch, files that the switch itself applies (`config apply-patch`,"
        f" `nv config patch`), to {purpose}.",
    )


def rollout_option(*, group: str = OUTPUT, gate: bool = False) -> OptionDecorator:
    """Add --rollout to a command, where the default is `report`; with `gate`, that is another word and the default."""
    words = ["gate", "report", "off"] if gate else ["report", "off"]
    meaning = "gate: exit 1 if every order has an error that reaches --fail-on; report: only report it; off: skip."
    return grouped_option(
        group,
        "--rollout",
        type=WordChoice(words, aliases={"tell": "report"}),
        default=words[0],
        show_default=True,
        help=f"Check intermediate rollout states. {meaning}" if gate else "Check intermediate rollout states.",
    )
