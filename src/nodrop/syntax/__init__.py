"""Syntaxes that several platforms share, each with the places of what it read."""
