"""Columns of the tracer's tables: float32 and integer arrays that hold scenes, cameras and windows."""

from __future__ import annotations

from typing import Final

# Kinds of solids.
BOX: Final = 0
ELLIPSOID: Final = 1
CAPSULE: Final = 2
CYLINDER: Final = 3
KINDS: Final = {"box": BOX, "ellipsoid": ELLIPSOID, "capsule": CAPSULE, "cylinder": CYLINDER}

# Solids: one row each.
KIND: Final = 0
SIZE: Final = 1  # 3: half sizes, radii, or radius and half length, mm
CENTER: Final = 4  # 3: mm
TURN: Final = 7  # 9: rotation matrix by rows, from the solid's frame to the board's
COLOR: Final = 16  # 3: linear light
OPACITY: Final = 19
ROUGH: Final = 20
F0: Final = 21  # reflectance at normal incidence
CORNER: Final = 22  # radius of a box's upright edges, mm
BEVEL: Final = 23  # width of the shaded rim of a box or cylinder, mm
IS_BASE: Final = 24  # 1 for a figure's base
IOR: Final = 25
REACH: Final = 26  # radius of the sphere around it, mm
PATTERN: Final = 27  # number in `appearance.PATTERNS`
SECOND: Final = 28  # 3: color of the pattern, linear light
VALUES: Final = 31  # 4: of the pattern
SOLID_COLUMNS: Final = 35

# Groups: solids that lie in one sphere, such as a figure.
G_CENTER: Final = 0  # 3: mm
G_RADIUS: Final = 3
MOST_GROUPS: Final = 62  # of a scene: a ray keeps one bit for each

# Scenes: floats.
X_LOW: Final = 0  # of the board, mm
Y_LOW: Final = 1
X_HIGH: Final = 2
Y_HIGH: Final = 3
BOW: Final = 4
TABLE_Z: Final = 5
TABLE_COLOR: Final = 6  # 3
GRAIN: Final = 9
TABLE_ROUGH: Final = 10
TABLE_F0: Final = 11
BOARD_ROUGH: Final = 12
BOARD_F0: Final = 13
TOP_Z: Final = 14  # above all solids
GRID_X: Final = 15
GRID_Y: Final = 16
CELL: Final = 17
PX_PER_MM: Final = 18  # 2: of the print, and of it at half size
RASTER_X: Final = 20  # board point of the print's upper left corner
RASTER_Y: Final = 21
SKY: Final = 22  # 3: ambient light from everywhere
SKY_RISE: Final = 25  # brighter above than at the horizon by this share
LOBES: Final = 26  # MOST_LOBES times LOBE_SIZE: bright parts of the surroundings
LOBE_TOWARD: Final = 0  # 3: unit vector
LOBE_POWER: Final = 3
LOBE_COLOR: Final = 4  # 3
LOBE_SIZE: Final = 7
MOST_LOBES: Final = 2
TABLE_TOP: Final = 40  # number in `appearance.TABLE_TOPS`
LAMPS: Final = 41  # MOST_LAMPS times LAMP_SIZE
LAMP_PLACE: Final = 0  # 3: mm
LAMP_U: Final = 3  # 3: half axes of its disc or rectangle, mm
LAMP_V: Final = 6
LAMP_COLOR: Final = 9  # 3
LAMP_PICK: Final = 12  # cumulative probability of being sampled
LAMP_ROUND: Final = 13  # 1 for a disc, 0 for a rectangle
LAMP_SIZE: Final = 14
MOST_LAMPS: Final = 5
HEAD_COLUMNS: Final = LAMPS + MOST_LAMPS * LAMP_SIZE

# Scenes: integers.
I_SOLIDS: Final = 0
I_GROUPS: Final = 1
I_CELLS: Final = 2
I_LISTS: Final = 3
I_NX: Final = 4
I_NY: Final = 5
I_LAMPS: Final = 6
I_RASTER: Final = 7  # where the print's pixels begin, its rows and columns; then the same of it at half size
I_ROWS: Final = 8
I_COLUMNS: Final = 9
RASTER_SIZE: Final = 3
COUNT_COLUMNS: Final = 13

# Views: a camera over a scene.
V_TURN: Final = 0  # 9: board to camera, by rows
V_EYE: Final = 9  # 3: mm
V_FOCAL: Final = 12  # 2: px
V_CENTER: Final = 14  # 2: px
V_DISTORTION: Final = 16  # 5
V_SIZE: Final = 21  # 2: of the frame, px
VIEW_COLUMNS: Final = 23

# Jobs: windows to trace.
J_INVERSE: Final = 0  # 6: pixels of the window to pixels of the frame, by rows
J_FOOT: Final = 6  # side of the square from which a pixel gathers light, frame px
JOB_COLUMNS: Final = 7
