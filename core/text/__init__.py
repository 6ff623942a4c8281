"""Texts for people: counted nouns, plain text, direction of scripts."""
