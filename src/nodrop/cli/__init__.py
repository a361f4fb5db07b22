"""The command line: one module per command, found by its file; a skin over the public verbs."""
