"""`python -m nodrop` is `nodrop`."""

from nodrop.cli.main import main

main()
