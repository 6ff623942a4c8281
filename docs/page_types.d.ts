// Types that the pages' scripts share. Those of what the services send are made from their models by service_types.py.

/** What an element may be given as content; `null`, `undefined` and `false` are left out. */
type Child = Node | string | number | false | null | undefined | readonly Child[];

/**
 * The attributes of an element of a class. `onclick` and its kind are listeners, whose `currentTarget` is the element itself; `data-post` is
 * where a button's request goes.
 */
type Attributes<E> = {
  [T in keyof HTMLElementEventMap as `on${T}`]?: (event: HTMLElementEventMap[T] & { currentTarget: E }) => unknown;
} & { "data-post"?: Service.ChangePath } & { [name: string]: string | number | boolean | null | undefined | ((event: never) => unknown) };

type Side = "home" | "away";

/** x, y: pixels, millimeters or yards, as the context says. */
type Point = [number, number];

type Size = { width: number; height: number };
type Box = Size & { x: number; y: number };

/** A connection: see `Feed`. */
type Link = "connecting" | "live" | "lost" | "stale";

/** How a value of a topic came: with a snapshot or as a change, `changed` being the message's data. */
type Notified<K extends keyof Service.Topics> = { snapshot: boolean; at_ms?: number; changed: Service.Topics[K] | undefined };

/** Both teams' names. */
type Teams = Record<Side, string>;

/** Shows a sentence to whoever waits; "" for none. */
type ShowMessage = (text: string) => void;

type Feed = import("../api/pages/assets/feed.js").Feed;

/** A call as it is shown: one that was seen and is gone is "withdrawn". */
type ShownCall = Omit<Service.CallView, "standing"> & { standing: Service.CallView["standing"] | "withdrawn" };

/** What was measured of a call, or of one of the conditions that it rests on. */
type Measured = Service.CallView | Service.ConditionView;

/** What a person declares; the service checks its fields. */
type Declaration = { type: string; [field: string]: unknown };

/** The body of a request, by the service's model of it. */
type RequestBody = { [field: string]: unknown };

/** A request of a form or a button. */
type FormRequest = { post: Service.ChangePath; body: RequestBody };

/** The height at which something is measured: that of the bases' tops, or that of the paint. */
type Plane = "base" | "paint";

/** What is drawn on a call's frames; `plane` is that of its `above` coordinates, null where it has none. */
type Drawings = Service.CallDrawings & { plane: Plane | null };

/** Points of a figure or a line in either view; none where out of view. */
type Outline = { px: Point[]; above: Point[] };

/** A view of a frame: from the camera, or from straight above. Its coordinates are pixels or millimeters. */
type View = {
  name: "camera" | "above";
  unit: "px" | "mm";
  /** The path of a frame's picture, below that of the frames. */
  path: (frame: number) => string;
  /** Whether the drawings are those of a picture of a size. */
  fits: (drawings: Drawings, size: Point | null) => boolean;
  place: (drawn: { px: Point | null; above: Point | null }) => Point | null;
  corners: (drawn: Outline) => Point[];
  /** Coordinates to pixels of the picture. */
  pixel: (point: Point) => Point;
  coordinates: (pixel: Point) => Point;
  /** What is drawn of the view itself. */
  marks: (stage: import("../api/pages/assets/evidence_stage.js").Stage, drawings: Drawings, taken: Box[]) => SVGElement[];
};
