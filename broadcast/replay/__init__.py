"""Instant replays: `director` says which is shown, `framing` and `replay_painting` make its pictures; `highlights`."""
