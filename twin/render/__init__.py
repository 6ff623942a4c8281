"""Renderers of an appearance, all with the same truth."""
