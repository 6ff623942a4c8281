"""Rules that measure, shared by the rulebooks: each looks at the facts of a frame and returns findings."""
