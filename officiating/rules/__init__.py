"""Rules that measure, shared by the rulebooks: one small unit each."""
