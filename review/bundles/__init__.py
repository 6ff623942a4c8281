"""Bundles: a game in one signed zip file; open `format` for what is in one."""
