"""The engine: state, facts, findings, calls, replay."""
