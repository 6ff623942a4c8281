// A scene collection for OBS: scenes of browser sources with this rig's addresses, as OBS itself exports it.
//
// OBS needs `name`, `current_scene` and `sources`, and finds the items of a scene by their sources' names
// (obs-studio: frontend/importers/studio.cpp, libobs/obs-scene.c). Without `version` it takes places for pixels of
// `resolution` and turns them into its own for a canvas of any size.

/** The canvas that the overlays are laid out for. */
const CANVAS_PX = { width: 1920, height: 1080 };

/** Sources by name: path and query of the address. What is opened only while it is seen has `shutdown`. */
const SOURCES = {
  "Downfield program": { path: "program", query: "" },
  "Downfield camera": { path: "camera.mjpeg", query: "", shutdown: true },
  "Downfield overlays": { path: "overlay/scene", query: "" },
  "Downfield replay": { path: "overlay/replay", query: "" },
  "Downfield starting soon": { path: "overlay/graphics", query: "show=starting_soon" },
  "Downfield halftime": { path: "overlay/graphics", query: "show=halftime" },
  "Downfield final": { path: "overlay/graphics", query: "show=final" },
};

/** @typedef {keyof typeof SOURCES} SourceName */

/** Scenes with their sources, the lowest first; hidden are those in brackets. @type {[string, (SourceName | [SourceName])[]][]} */
const SCENES = [
  ["Starting soon", ["Downfield program", "Downfield starting soon"]],
  ["Game", ["Downfield program", ["Downfield camera"], "Downfield overlays"]],
  ["Replay", ["Downfield program", "Downfield replay"]],
  ["Halftime", ["Downfield program", "Downfield halftime"]],
  ["Final", ["Downfield program", "Downfield final"]],
];

/** The first scene that OBS shows. */
const FIRST = "Starting soon";

const ALL_TRACKS = 255;
const ALIGN_TOP_LEFT = 5;
const BOUNDS_SCALE_INNER = 2;

/**
 * The collection, to be saved as a file.
 *
 * @param {(path: string, query: string) => string} addressOf an address that OBS can open
 */
export function sceneCollection(addressOf) {
  const sources = Object.entries(SOURCES).map(([name, { path, query, ...more }]) =>
    source("browser_source", name, {
      url: addressOf(path, query),
      ...CANVAS_PX,
      fps_custom: false,
      reroute_audio: path.startsWith("overlay/"), // calls may have a tone
      restart_when_active: false,
      shutdown: false,
      ...more,
    }),
  );
  const scenes = SCENES.map(([name, parts]) =>
    source("scene", name, {
      custom_size: false,
      id_counter: parts.length,
      items: parts.map((part, index) => item(String(part), index + 1, !Array.isArray(part))),
    }),
  );
  return {
    name: "Downfield",
    current_scene: FIRST,
    current_program_scene: FIRST,
    scene_order: SCENES.map(([name]) => ({ name })),
    sources: [...sources, ...scenes],
    groups: [],
    transitions: [],
    transition_duration: 300,
    resolution: { x: CANVAS_PX.width, y: CANVAS_PX.height },
  };
}

/** @param {string} id of its type @param {string} name @param {object} settings */
const source = (id, name, settings) => ({
  id,
  versioned_id: id,
  name,
  settings,
  enabled: true,
  muted: false,
  volume: 1,
  balance: 0.5,
  mixers: id === "scene" ? 0 : ALL_TRACKS,
  monitoring_type: 0,
  sync: 0,
  flags: 0,
  hotkeys: {},
  private_settings: {},
});

/** @param {string} name of its source @param {number} id @param {boolean} visible */
const item = (name, id, visible) => ({
  name,
  id,
  visible,
  locked: false,
  rot: 0,
  pos: { x: 0, y: 0 },
  scale: { x: 1, y: 1 },
  align: ALIGN_TOP_LEFT,
  bounds_type: BOUNDS_SCALE_INNER,
  bounds_align: 0,
  bounds: { x: CANVAS_PX.width, y: CANVAS_PX.height },
  crop_left: 0,
  crop_top: 0,
  crop_right: 0,
  crop_bottom: 0,
  scale_filter: "disable",
  blend_method: "default",
  blend_type: "normal",
  group_item_backup: false,
  private_settings: {},
});
