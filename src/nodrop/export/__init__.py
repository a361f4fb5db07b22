"""Fabrics in the forms of other tools: the inputs of validators and labs, made from the devices' own files."""
