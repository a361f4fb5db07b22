"""A language server: what nodrop finds in the files that an editor has open, while they are written.

`server` speaks the protocol and schedules; `desk` judges a text with what lies around it; `cursor` and `offers` work
out what may be written at a place; `pages` are the words of hovers; `changes` are quick fixes. Only `server`, `texts`
and `told` know pygls and lsprotocol.
"""
