"""The settings of a rig: read from file, environment and command line, checked, and shown without what is secret.

`settings` has every setting with its default and its text, and a new one is added there alone: options, environment
variables, the file and docs/configuration.md follow. `loading` merges the places that values come from.
"""
