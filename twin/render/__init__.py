"""Render pictures of an appearance: three renderers with one truth."""
