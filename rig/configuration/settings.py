"""Every setting of the rig, by table; ``docs/configuration.md`` is made from these models."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Lock = Literal["hold", "auto"] | Annotated[int, Field(ge=0)]
Pixels = Annotated[int, Field(ge=16, le=16384)]


class SettingsSection(BaseModel):
    """A table of the file: frozen, every key known; camera 0 may be written without quotes."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, coerce_numbers_to_str=True)


class SourceSettings(SettingsSection):
    """Where the pictures come from."""

    name: str = Field(
        default="",
        description="A camera's number, device file or a part of its name; an address (`http://`, `rtsp://`, ...); a"
        " video file; a folder of pictures; `twin:PLAY`. Empty for the bundled recording.",
    )
    tracks: Literal["auto"] | bool = Field(
        default="auto",
        description="Show a video with the `*.tracks.jsonl` beside it, where there is one, and do not look at it anew;"
        ' `"auto"` looks at the bundled recording, and shows every other.',
    )

    @property
    def shows_tracks(self) -> bool:
        """Whether recorded tracks are shown."""
        return bool(self.name) if self.tracks == "auto" else self.tracks

    size: tuple[Pixels, Pixels] = Field(default=(1920, 1080), description="Width and height asked of a camera.")
    fps: float = Field(
        default=60.0, gt=0, le=1000, description="Frames a second asked of a camera, or that a folder plays at."
    )
    exposure: Lock = Field(
        default="hold", description='`"hold"` where it stands, `"auto"`, or a number in units of 0.1 ms.'
    )
    focus: Lock = Field(default="hold", description='`"hold"`, `"auto"`, or a number in the camera\'s own units.')
    white_balance: Lock = Field(default="hold", description='`"hold"`, `"auto"`, or a number in kelvin.')
    microphone: str = Field(
        default="",
        description="Beside a live source, as ALSA calls it (`default`, `hw:1`; Linux): the hum of a running board"
        " helps to tell whether it is on. Empty for none. A video's own sound is always listened to.",
    )


class CalibrationSettings(SettingsSection):
    """From pixels to yards."""

    file: str = Field(
        default="", description="A `*.calibration.json`. Empty: the printed field is looked for when the rig starts."
    )
    field: str = Field(default="auto", description="The printed field: a preset's name, a `.toml` file, or `auto`.")
    lens: str = Field(default="", description="A lens measured by `downfield calibrate lens`; empty for none.")
    camera_height_mm: float = Field(
        default=0,
        ge=0,
        le=5000,
        description="Of the lens over the board, by a tape measure; 0 when it was not measured.",
    )


class GameSettings(SettingsSection):
    """What is played."""

    rulebook: str = Field(default="tap", description="A bundled rulebook, or a league's `.toml` file.")
    roster: str = Field(
        default="", description="A `*.roster.json`, or a `*.tracks.jsonl` with the players. Empty: they are numbered."
    )


class NetworkSettings(SettingsSection):
    """The network that sees the figures."""

    name: str = Field(default="", description="A bundled network, or the folder of another; empty for the usual one.")
    threads: int = Field(default=1, ge=1, le=64, description="That a look at a whole picture may use.")
    follow_threads: int = Field(
        default=2, ge=1, le=64, description="That a look at the figures may use, for which frames wait."
    )
    second_look: bool = Field(default=True, description="Look at each figure again, closer: slower and more exact.")
    looks_per_s: float = Field(
        default=12.0,
        gt=0,
        le=1000,
        description="Of whole frames; in those between, only what was just seen is looked for, which takes a quarter"
        " of the time.",
    )
    follows_per_s: float = Field(
        default=60.0,
        gt=0,
        le=1000,
        description="Of every figure, as far as there is time, else 30; in frames that come faster, only outlines that"
        " a decision may hang on are measured, without the network.",
    )


class RecordingSettings(SettingsSection):
    """What is kept of the pictures."""

    on: bool = Field(default=True, description="Record live sources from the start.")
    folder: str = Field(default="", description="Where to; empty for `recordings` in the data folder.")
    segment_s: float = Field(default=60.0, ge=1, le=3600, description="Length of one file.")
    keep_gb: float = Field(default=200.0, gt=0, description="The oldest recordings are deleted beyond so much.")
    keep_days: float = Field(default=30.0, gt=0, description="And when they are older than that.")
    warn_below_gb: float = Field(default=10.0, ge=0, description="With less room on the disk there is a warning.")
    stop_below_gb: float = Field(default=2.0, ge=0, description="With less, recording stops; calls go on.")


class StoreSettings(SettingsSection):
    """Where games are kept."""

    url: str = Field(
        default="",
        description="Of a database, such as `sqlite:////srv/downfield.db` or `postgresql://me@host/downfield`. Empty:"
        " `downfield.db` in the data folder for live sources, nowhere for recordings.",
    )


class ServiceSettings(SettingsSection):
    """The pages and the API."""

    on: bool = Field(default=True, description="Whether to serve them.")
    host: str = Field(
        default="127.0.0.1", description="The address to listen at; `0.0.0.0` for phones and other computers."
    )
    port: int = Field(default=8317, ge=0, le=65535, description="The port; 0 for any that is free.")
    names: tuple[str, ...] = Field(
        default=(), description="Names it is called by, beside this computer's own and its addresses."
    )
    open_viewing: bool = Field(
        default=False, description="Whether anybody on the network may look without being paired."
    )
    trust_local: bool = Field(
        default=True, description="Whether whoever sits at this computer may do everything; not behind a proxy."
    )


class RigSettings(SettingsSection):
    """The whole configuration."""

    data: str = Field(
        default="",
        description="Where the rig keeps what it makes; empty for `downfield` in the user's data folder.",
    )
    source: SourceSettings = SourceSettings()
    calibration: CalibrationSettings = CalibrationSettings()
    game: GameSettings = GameSettings()
    network: NetworkSettings = NetworkSettings()
    recording: RecordingSettings = RecordingSettings()
    store: StoreSettings = StoreSettings()
    service: ServiceSettings = ServiceSettings()
