"""Disputes: games and plays read back, evidence, clips, bundles, reports.

It reads what `downfield.game` keeps; it never judges by rules of its own.
"""
