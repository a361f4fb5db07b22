"""Fabrics in the forms that others take: what validators and labs read, made of what devices' own files say."""
