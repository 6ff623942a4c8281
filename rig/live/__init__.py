"""The live loop: capture, see, judge, each in its thread, with what watches and tells beside it."""
