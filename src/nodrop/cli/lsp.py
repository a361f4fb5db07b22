"""`nodrop lsp`: the language server, for editors."""

from importlib.util import find_spec

import click


@click.command()
@click.option("--tcp", "port", type=click.IntRange(1, 65535), metavar="PORT", help="Listen at 127.0.0.1 instead.")
@click.option("--stdio", is_flag=True, hidden=True, help="What it does anyhow; some editors say so.")
def command(port: int | None, *, stdio: bool) -> None:
    """Serve an editor over standard input and output.

    What nodrop finds shows up in intents, switch configurations, fabric.yaml, nodrop.yaml, profiles and rule files
    while they are written, with explanations, quick fixes and completion. docs/editors.md has what each editor needs
    to be told. It is an extra: pip install 'nodrop[lsp]'.
    """
    del stdio
    if find_spec("pygls") is None or find_spec("lsprotocol") is None:
        raise click.ClickException("the language server is not installed: pip install 'nodrop[lsp]'")
    from nodrop.lsp.server import make

    if port is None:
        make().start_io()
    else:
        make().start_tcp("127.0.0.1", port)
