"""`nodrop lsp`: the language server, for editors."""

from importlib.util import find_spec

import click


@click.command()
@click.option(
    "--tcp",
    "port",
    type=click.IntRange(1, 65535),
    metavar="PORT",
    help="Listen on 127.0.0.1:PORT instead of standard input.",
)
@click.option("--stdio", is_flag=True, hidden=True, help="The default; some editors pass it.")
def command(port: int | None, *, stdio: bool) -> None:
    """Run the language server for editors, on standard input and output.

    Editors show findings in intents, switch configurations, fabric.yaml, nodrop.yaml, profiles and rule files while
    you type, with explanations, quick fixes and completion. Install it with: pip install '.[lsp]' in a checkout

    \b
    Examples:
      nodrop lsp              as the command of an editor's LSP client
      nodrop lsp --tcp 2087   for an editor that connects to 127.0.0.1:2087
    """
    del stdio
    if find_spec("pygls") is None or find_spec("lsprotocol") is None:
        raise click.ClickException("the language server is not installed: pip install '.[lsp]' in a checkout")
    from nodrop.lsp.server import make_server

    if port is None:
        make_server().start_io()
    else:
        make_server().start_tcp("127.0.0.1", port)
