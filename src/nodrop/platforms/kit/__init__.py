"""What several platforms share: rows of bindings, edits, traits, artifacts, and words of packets."""
