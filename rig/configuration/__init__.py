"""The settings of a rig: read from file, environment and command line, checked, and shown without what is secret."""
