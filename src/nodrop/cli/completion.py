"""`nodrop completion`: the script that lets a shell complete commands, options, rules and files."""

import click

from nodrop.cli.options import WordChoice

_SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=WordChoice(_SHELLS))
def command(shell: str) -> None:
    """Print the shell completion script.

    \b
    bash   eval "$(nodrop completion bash)"                               in ~/.bashrc
    zsh    eval "$(nodrop completion zsh)"                                in ~/.zshrc, after compinit
    fish   nodrop completion fish > ~/.config/fish/completions/nodrop.fish
    """
    from click.shell_completion import get_completion_class

    from nodrop.cli.main import COMPLETION_VARIABLE, nodrop
    from nodrop.cli.output import write_output

    kind = get_completion_class(shell)
    assert kind is not None
    write_output(kind(nodrop, {}, "nodrop", COMPLETION_VARIABLE).source() + "\n")
