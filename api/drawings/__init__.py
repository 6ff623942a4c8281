"""Drawings the service answers with, as SVG."""
