"""Filming of a table: camera effects on ideal pictures over time, and the clip file."""
