"""Every setting of the rig, by section; ``docs/configuration.md`` is generated from these models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, IPvAnyNetwork

from downfield.api.security.forwarding import PREFIX
from downfield.capture.recording.recording_settings import RecordingSettings
from downfield.core.platform.system import user_data_folder
from downfield.core.records import SECRET, SECRET_PATH, SettingsSection
from downfield.officiating.rulebooks.default import DEFAULT_RULEBOOK

Server = Annotated[
    str, Field(pattern=r"^((nats|tls)://[^\s@]+|http://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?/?)$", max_length=300)
]
"""Address of a broker, without a password, or of a desk on this computer."""


class TournamentSettings(SettingsSection):
    """A tournament of many tables ([Run a tournament](run-a-tournament.md)). A broker needs the extra `tournament`."""

    servers: tuple[Server, ...] = ()
    """Addresses of the tournament's broker, such as `nats://192.168.1.10:4222`; `tls://` with TLS. For a rig on the
    desk's own computer, without a broker: the desk's address, such as `http://127.0.0.1:8320`. The rig keeps its games
    itself and copies them there as soon as that works. Empty: no tournament."""
    credentials: str = ""
    """The file by which the broker lets a rig or the desk in, as `downfield desk broker` writes it."""
    database: str = ""
    """For the desk: the PostgreSQL database (15 or later) with the games of all tables, such as
    `postgresql://me@host/downfield`. Empty without a broker: an SQLite file in its folder. Rigs need none."""


ControlSetting = Literal["hold", "auto"] | Annotated[int, Field(ge=0)]
PixelCount = Annotated[int, Field(ge=16, le=16384)]


class IdentitySettings(SettingsSection):
    """The rig among others."""

    table: str = Field(default="", max_length=60, pattern=r"^[^\x00-\x1f\x7f]*$")
    """Name of the table, where several tables keep their games in one store. Empty: of the saved table, or of the
    computer."""


class SourceSettings(SettingsSection):
    """The source of the pictures."""

    name: str = ""
    """A camera's number, device file or a part of its name; an address (`http://`, `rtsp://`, ...); a video file; a
    folder of pictures; `scenes://-`; `twin:PLAY`. Empty for the bundled recording."""
    tracks: Literal["auto"] | bool = "auto"
    """Whether a video is shown with the `*.tracks.jsonl` beside it, if there is one, instead of being tracked again.
    `"auto"`: every video but the bundled recording."""
    size: tuple[PixelCount, PixelCount] = (1920, 1080)
    """Width and height requested from a camera, pixels."""
    fps: float = Field(default=60.0, gt=0, le=1000)
    """Frames per second requested from a camera, or played from a folder."""
    exposure: ControlSetting = "hold"
    """`"hold"` at its present value, `"auto"`, or a number in units of 0.1 ms."""
    focus: ControlSetting = "hold"
    """`"hold"` at its present value, `"auto"`, or a number in the camera's own units."""
    white_balance: ControlSetting = "hold"
    """`"hold"` at its present value, `"auto"`, or a number in kelvin."""
    microphone: str = ""
    """A microphone beside a live source, by its ALSA name (`default`, `hw:1`; Linux): the hum of a running board helps
    to tell whether it is on. Empty for none. A video's own sound is always used."""

    @property
    def shows_tracks(self) -> bool:
        """Whether recorded tracks are shown."""
        return bool(self.name) if self.tracks == "auto" else self.tracks


class CalibrationSettings(SettingsSection):
    """The calibration of the camera."""

    file: str = ""
    """A `*.calibration.json`. Empty: the rig calibrates from the printed field when it starts."""
    field: str = "auto"
    """The printed field: a preset's name, a `.toml` file, or `auto`."""
    strip: str = ""
    """The strip of a card game that the camera looks at instead of a table: `nfl-strategy`, or a `.toml` file ([The
    strip of NFL Strategy](strip.md)). Empty: a table."""
    lens: str = ""
    """A lens measured by `downfield calibrate lens`; empty for none."""
    camera_height_mm: float = Field(default=0, ge=0, le=5000)
    """Height of the lens over the board, measured with a tape; 0 if it was not measured."""
    standing: str = ""
    """Something of known height that stands upright on the board when the rig starts, in place of a tape: its foot and
    its top in the picture and its height, `PX,PY=PX,PY=MM`. Empty for nothing."""


class GameSettings(SettingsSection):
    """The game to play."""

    rulebook: str = DEFAULT_RULEBOOK
    """An installed rulebook, or a league's `.toml` file."""
    roster: str = ""
    """A `*.roster.json`, or a `*.tracks.jsonl` with the players. Empty: figures are numbered."""
    shadow: bool = False
    """Whether people referee by declarations alone while the machine's calls are only kept, to be compared afterwards
    by `downfield shadow`: for the first evening at a new table (`downfield run --shadow`)."""
    strip_moves: Literal["ask", "declare"] = "ask"
    """What to do when the strip of a card game was set and no card was entered for it: `"ask"` on the panel;
    `"declare"` a move that only one play explains, and ask about the others."""
    operators_review: bool = False
    """Whether operators may reopen finished games, rule on them and close them again. Otherwise only referees and the
    admin may."""


class NetworkSettings(SettingsSection):
    """The neural network that detects the figures."""

    name: str = ""
    """A bundled network, or the folder of another; empty for the default."""
    threads: int = Field(default=1, ge=1, le=64)
    """Threads for detection in the whole frame."""
    refine_threads: int = Field(default=2, ge=1, le=64)
    """Threads for refining the tracked figures, which frames wait for."""
    refine: bool = True
    """Refine each figure in a close-up: slower and more exact."""
    detections_per_s: float = Field(default=12.0, gt=0, le=1000)
    """Detections in the whole frame per second. In between, only tracked figures are refined, which takes a quarter of
    the time."""
    refinements_per_s: float = Field(default=60.0, gt=0, le=1000)
    """Refinements of every figure per second, if there is time; otherwise 30. In frames that come faster, only
    outlines that a decision may depend on are measured, without the network."""


class StoreSettings(SettingsSection):
    """The store of games."""

    url: str = ""
    """A database, such as `sqlite:////srv/downfield.db` or `postgresql://me@host/downfield`. Empty: `downfield.db` in
    the data folder for live sources; games from recordings are not kept. Several tables may share one: each goes on
    with its own games only."""

    recordings: bool = False
    """Whether games of recordings are kept in `downfield.db` as well (`downfield run --keep`)."""
    heads: str = ""
    """File in which the rig signs where each game stands, so that `downfield verify --heads` tells what was done to
    the store; best on another disk. Empty: beside the data folder, its name with `.heads.jsonl`."""

    unsaved: str = ""
    """Folder for what the store does not accept: its disk is full, its server is away. It is stored as soon as that
    works, also by a later start; best on another disk than the store. Empty: `unsaved` in the data folder. Where that
    is full too, a folder beside the heads file, then one in `/var/tmp` is used."""


class ServiceSettings(SettingsSection):
    """The web pages and the API."""

    on: bool = True
    """Whether they are served."""
    lan: bool = False
    """Whether phones and other computers in the network may use them (`downfield run --lan`): listens on all
    addresses, of IPv4 and IPv6."""
    host: str = "127.0.0.1"
    """The address to listen on, where it must be a certain one; `lan` is the usual way to open it."""
    port: int = Field(default=8317, ge=0, le=65535)
    """The port; 0 for any free one."""
    tls: bool = False
    """Whether to serve with TLS as well, at `tls_port` (`downfield run --tls`), with a certificate made by the rig
    unless one is named. Other computers may then use `port` for watching only."""
    tls_port: int = Field(default=8318, ge=0, le=65535)
    """The port for TLS; 0 for any free one."""
    certificate: str = ""
    """A PEM file with a certificate and those that signed it; empty for one made by the rig."""
    private_key: str = ""
    """The PEM file with the certificate's private key."""
    names: tuple[str, ...] = ()
    """Host names of this computer in your network, besides its own name and addresses."""
    origins: tuple[Annotated[str, Field(pattern=r"^https?://[^/?#\s]+$")], ...] = ()
    """Other websites, such as `https://club.example`, whose pages may read API, feed and pictures by a device's key:
    an overlay of your own may be hosted there."""
    proxies: tuple[IPvAnyNetwork, ...] = ()
    """Addresses or networks of reverse proxies whose `X-Forwarded-For`, `-Proto`, `-Host` and `-Prefix` are believed,
    or `Forwarded` where they write no `X-Forwarded-For`. Nobody else's are."""
    prefix: str = Field(default="", pattern=f"^({PREFIX.pattern})?$")
    """The path under which a reverse proxy shows them, such as `/football`; empty for none."""
    open_viewing: bool = False
    """Whether anyone on the network may watch without pairing."""
    trust_local: bool = True
    """Whether every request from this computer may do everything. Set it to false when a reverse proxy or a tunnel
    runs on this computer, which makes such requests for everybody: a browser then becomes the admin's by the link that
    `downfield run` and `downfield admin` print."""


class StreamSettings(SettingsSection):
    """What the stream shows by itself."""

    replay: Literal["off", "auto"] = "off"
    """`"auto"`: after each call that shows something on the board its replay runs on the overlay `/overlay/replay` by
    itself; `"off"`: only at a tap of the operator."""
    keep_replays: int = Field(default=200, ge=0, le=100_000)
    """Replays of live games that are kept as files in `replays` in the data folder; 0 for none."""


class ObsSettings(SettingsSection):
    """OBS Studio, driven over obs-websocket 5."""

    address: str = Field(default="", pattern=r"^(wss?://[^\s]+)?$")
    """Of its WebSocket server, such as `ws://127.0.0.1:4455`; empty for none."""
    password: str = Field(default="", max_length=200, json_schema_extra=SECRET)
    """As its WebSocket settings show it."""
    scene: str = Field(default="", max_length=200)
    """The scene to show while a replay runs, then the one before again."""
    replay_buffer: bool = False
    """Whether its replay buffer is saved after each call."""


class WebhookSettings(SettingsSection):
    """A webhook that is notified of the game, such as a chat bot or a scoreboard."""

    url: str = Field(default="", pattern=r"^(https?://\S+( +https?://\S+)*)?$", json_schema_extra=SECRET_PATH)
    """The address that updates are posted to, or several with spaces between; empty for none. What is sent to one may
    follow it, such as `#call,game_ended`. Discord and Slack get sentences."""
    signing_key: str = Field(default="", max_length=200, json_schema_extra=SECRET)
    """Signs every delivery (HMAC-SHA256); empty for none."""
    states: bool = True
    """Whether every change of the game is sent; otherwise calls and replays."""


class MqttSettings(SettingsSection):
    """An MQTT broker, as of Home Assistant. It needs the extra `mqtt`."""

    address: str = Field(default="", pattern=r"^(mqtts?://\S+)?$")
    """Of the broker, such as `mqtt://user:password@192.168.1.5`; `mqtts://` with TLS; empty for none."""
    certificate: str = ""
    """PEM file of those who vouch for the certificate; empty for those that the computer trusts."""
    topic: str = Field(default="downfield", pattern=r"^[^/+#\s]+(/[^/+#\s]+)*$")
    """What all topics begin with: another for each table, such as `downfield/2`."""
    discovery: str = Field(default="homeassistant", pattern=r"^([^/+#\s]+(/[^/+#\s]+)*)?$")
    """What the topics of Home Assistant's discovery begin with; empty for none."""


class OutputSettings(SettingsSection):
    """Files for mixers such as vMix."""

    folder: str = ""
    """Folder for `state.json` and one text file for each of its values; empty for none."""


class LogSettings(SettingsSection):
    """The log of the rig."""

    on: bool = True
    """Whether a log is written while a table is refereed."""
    folder: str = ""
    """Where it goes; empty for `logs` in the data folder."""
    level: Literal["debug", "info", "warning", "error"] = "info"
    """The least level that is logged."""
    keep_mb: float = Field(default=25.0, gt=0, le=10_000)
    """Size of the log; the oldest lines go first."""


class RigSettings(SettingsSection):
    """The whole configuration."""

    data: str = ""
    """Folder for games and recordings; empty for `downfield` in the user's data folder."""
    rig: IdentitySettings = IdentitySettings()
    source: SourceSettings = SourceSettings()
    calibration: CalibrationSettings = CalibrationSettings()
    game: GameSettings = GameSettings()
    network: NetworkSettings = NetworkSettings()
    recording: RecordingSettings = RecordingSettings()
    store: StoreSettings = StoreSettings()
    service: ServiceSettings = ServiceSettings()
    stream: StreamSettings = StreamSettings()
    obs: ObsSettings = ObsSettings()
    webhook: WebhookSettings = WebhookSettings()
    mqtt: MqttSettings = MqttSettings()
    output: OutputSettings = OutputSettings()
    tournament: TournamentSettings = TournamentSettings()
    log: LogSettings = LogSettings()


def data_folder(settings: RigSettings) -> Path:
    """Return the data folder."""
    if settings.data:
        return Path(settings.data).expanduser()
    return user_data_folder("downfield")


def recordings_folder(settings: RigSettings) -> Path:
    """Return the folder of recordings."""
    folder = settings.recording.folder
    return Path(folder).expanduser() if folder else data_folder(settings) / "recordings"


def tables_folder(settings: RigSettings) -> Path:
    """Return the folder of table profiles."""
    return data_folder(settings) / "tables"


def logs_folder(settings: RigSettings) -> Path:
    """Return the folder of the log."""
    return Path(settings.log.folder).expanduser() if settings.log.folder else data_folder(settings) / "logs"


def store_file(settings: RigSettings) -> Path:
    """Return the database file of live games, used when no database is named."""
    return data_folder(settings) / "downfield.db"
