"""Syntaxes that several platforms share, each with the places of the parts that it read."""
