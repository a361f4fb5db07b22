"""A language server: nodrop's findings in the files that an editor has open, while they are written.

`server` speaks the protocol and schedules; `desk` checks a text with the files around it; `cursor` and `offers` find
the possible input at a place; `pages` are the words of hovers; `changes` are quick fixes. Only `server`, `texts` and
`told` know pygls and lsprotocol.
"""
