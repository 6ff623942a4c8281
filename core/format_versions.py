"""Reads version 1 of the file formats by renaming its keys and values to those of version 2.

Version 2 spells keys and enumeration values the American way. Files and stored games of version 1 stay readable: their
names are converted here before the content is checked. The conversion works on parsed JSON, so it serves whole files,
single lines and journal entries.
"""

from __future__ import annotations

import json
from typing import Any, Final

KEYS: Final = {
    "centre_px": "center_px",
    "colour": "color",
    "defence": "defense",
    "defence_done_ns": "defense_done_ns",
    "offence": "offense",
    "offence_done_ns": "offense_done_ns",
    "unmodelled_px": "unmodeled_px",
    # parameters of the rulebooks, as a game's journal and a league's file keep them
    "duty.go_deficit": "play_call.go_deficit",
    "duty.go_distance_yd": "play_call.go_distance_yd",
    "duty.go_from_yd": "play_call.go_from_yd",
    "duty.late_s": "play_call.late_s",
    "duty.punt_to_yd": "play_call.punt_to_yd",
    "duty.two_point_deficit": "play_call.two_point_deficit",
    "formation.defence_depth_yd": "formation.defense_depth_yd",
    "formation.defence_off_exact": "formation.defense_off_exact",
    "formation.defence_off_tolerance_yd": "formation.defense_off_tolerance_yd",
    "formation.defence_off_yd": "formation.defense_off_yd",
    "formation.under_centre_base_lengths": "formation.under_center_base_lengths",
    "stop.defence_more": "stop.defense_more",
    "stop.defence_turns": "stop.defense_turns",
    "timing.defence_set_s": "timing.defense_set_s",
}
"""Keys of version 1 and their present names, in any object."""

VALUES: Final = {
    "choice": {"defence_first": "defense_first", "offence_first": "offense_first"},
    "hash": {"centre": "center"},
}
"""Enumeration values of version 1 and their present names, by the (present) key that holds them."""


def upgrade(data: Any) -> Any:
    """Return parsed JSON of version 1 with the names of version 2; data of version 2 comes back unchanged.

    Args:
        data: objects, arrays, strings, numbers, booleans and None, as `json.loads` makes them; not changed.

    """
    if isinstance(data, list):
        return [upgrade(item) for item in data]
    if not isinstance(data, dict):
        return data
    upgraded = {}
    for old_key, value in data.items():
        key = KEYS.get(old_key, old_key)
        upgraded[key] = VALUES[key].get(value, value) if key in VALUES and isinstance(value, str) else upgrade(value)
    if "format" in upgraded and upgraded.get("version") == 1:
        upgraded["version"] = 2
    return upgraded


def upgrade_json(text: str | bytes) -> str | bytes:
    """Return JSON text of version 1 with the names of version 2; broken JSON comes back unchanged."""
    try:
        data = json.loads(text)
    except ValueError:
        return text  # parsing it afterward reports the error
    return json.dumps(upgrade(data), ensure_ascii=False, separators=(",", ":"))
