"""The set-up of a table, for the admin only, since it opens cameras; and a phone as its camera, by WHIP (RFC 9725)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import Depends, Header, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import Field

from downfield.api.context.access_control import AccessControlDep, AuthorizedRouter, PrincipalDep
from downfield.api.context.context import HubDep, RigPartsDep
from downfield.api.http.problems import ProblemError
from downfield.api.http.requests import sends
from downfield.api.routes.pairing import PairingDetails, TokenStoreDep, base_url, pairing_details, refuse_unreachable
from downfield.api.security.access import Principal
from downfield.api.security.tokens import TokenStore
from downfield.api.table_setup import (
    CameraRequestBody,
    MeasurementRequest,
    ReadingRequest,
    RenameRequest,
    SavedTableRequest,
    SetupControl,
    SetupFinding,
    SetupView,
    SolveRequest,
    TableNameRequest,
    TableSetup,
)
from downfield.capture.sources.phone import PHONE_SOURCE
from downfield.capture.sources.phone_link import PHONE_LINK, PhoneState, require_receiver
from downfield.core.errors import InputError, NotFoundError, RefusedError
from downfield.game.published.board_topics import HealthStatus
from downfield.game.records.models import RequestModel, TopicModel

router = AuthorizedRouter(prefix="/api/setup", tags=["setup"])


async def _table_setup(rig: RigPartsDep) -> TableSetup:
    if rig.table_setup is None:
        raise ProblemError(404, "This service has no camera to set up.", "no_setup")
    return rig.table_setup


TableSetupDep = Annotated[TableSetup, Depends(_table_setup)]

DeviceHeader = Annotated[
    str | None,
    Header(
        alias="Setup-Device",
        pattern=r"^[A-Za-z0-9-]{1,64}$",
        description="Made up by a page, the same for all of its requests: while one sets up the table, others watch.",
    ),
]


@dataclass(frozen=True, slots=True)
class _Device:
    """The device that sends a request."""

    name: str | None
    control: SetupControl

    def watch(self, view: SetupView) -> SetupView:
        """Return a view with who is in control."""
        return view.model_copy(update={"control": self.control.look(self.name)})

    def change(self, make: Callable[[], SetupView]) -> SetupView:
        """Make a change and return the view after it; refused while another device is in control."""
        self.control.act(self.name)
        return self.watch(make())


async def _device(rig: RigPartsDep, name: DeviceHeader = None) -> _Device:
    return _Device(name, rig.setup_control)


DeviceDep = Annotated[_Device, Depends(_device)]


@router.get("", "admin", summary="The state of the set-up")
def setup_view(setup: TableSetupDep, device: DeviceDep) -> SetupView:
    """Cameras, picture faults, progress, landmarks, and the saved tables."""
    return device.watch(setup.view())


@router.post("/camera", "admin", summary="Open a camera to set up")
def open_camera(setup: TableSetupDep, device: DeviceDep, request: CameraRequestBody) -> SetupView:
    """A camera of this computer, or the address of a stream."""
    return device.change(lambda: setup.open_camera(request.source))


@router.get("/picture.jpg", "admin", summary="The picture that is set up", **sends("image/jpeg"))
def setup_picture(setup: TableSetupDep) -> Response:
    """The newest one, or the one that is solved."""
    return Response(setup.picture(), media_type="image/jpeg", headers={"Cache-Control": "no-store"})


@router.get("/lines.svg", "admin", summary="The field's lines over the picture", **sends("image/svg+xml"))
def setup_lines(setup: TableSetupDep) -> Response:
    """Where the solution has them."""
    return Response(setup.lines(), media_type="image/svg+xml")


@router.get("/readings/{reading}.jpg", "admin", summary="One of several readings as a picture", **sends("image/jpeg"))
def reading_picture(setup: TableSetupDep, reading: Annotated[int, Path(ge=0, le=20)]) -> Response:
    """Its lines are drawn on it, and one in which the picture is mirrored is shown the other way round."""
    return Response(setup.reading_picture(reading), media_type="image/jpeg", headers={"Cache-Control": "no-store"})


@router.post("/solve", "admin", summary="Look for the printed field")
def solve(setup: TableSetupDep, device: DeviceDep, request: SolveRequest) -> SetupView:
    """By itself, from landmarks placed by hand, or scaled by a measured length; returns at once."""
    return device.change(lambda: setup.solve(request))


@router.post("/measure", "admin", summary="Solve again with something measured")
def measure(setup: TableSetupDep, device: DeviceDep, request: MeasurementRequest) -> SetupView:
    """Lengths of the print, the height of the lens over the board, or of something on it; returns at once."""
    return device.change(lambda: setup.measure(request))


@router.post("/aim", "admin", summary="Show the live picture again")
def aim_again(setup: TableSetupDep, device: DeviceDep) -> SetupView:
    """The solution is dropped."""
    return device.change(setup.aim_again)


@router.post("/reading", "admin", summary="Choose one of several readings")
def choose_reading(setup: TableSetupDep, device: DeviceDep, request: ReadingRequest) -> SetupView:
    """It is drawn over the picture, and the one to be saved."""
    return device.change(lambda: setup.choose(request.reading))


@router.post("/control", "admin", summary="Go on with the set-up on this device")
def take_over(setup: TableSetupDep, device: DeviceDep) -> SetupView:
    """The device that was in control watches from now on."""
    if device.name is None:
        raise ProblemError(422, "Send the header Setup-Device: it names the device that takes over.")
    device.control.take_over(device.name)
    return device.watch(setup.view())


@router.post("/save", "admin", summary="Save the table and play on it")
def save_table(setup: TableSetupDep, device: DeviceDep, request: TableNameRequest) -> SetupView:
    """The service changes to its camera within seconds; feeds reconnect by themselves."""
    return device.change(lambda: setup.save(request.name))


@router.post("/tables/use", "admin", summary="Play on a saved table")
def use_table(setup: TableSetupDep, device: DeviceDep, request: SavedTableRequest) -> SetupView:
    """The service changes to its camera within seconds, as after saving one."""
    return device.change(lambda: setup.use_table(request.table))


@router.post("/tables/rename", "admin", summary="Give a saved table another name")
def rename_table(setup: TableSetupDep, device: DeviceDep, request: RenameRequest) -> SetupView:
    """Games that were played on it keep the name of their time."""
    return device.change(lambda: setup.rename_table(request.table, request.name))


@router.post("/tables/remove", "admin", summary="Remove a saved table")
def remove_table(setup: TableSetupDep, device: DeviceDep, request: SavedTableRequest) -> SetupView:
    """Games that were played on it stay; the table in use can't be removed."""
    return device.change(lambda: setup.remove_table(request.table))


phone_router = AuthorizedRouter(prefix="/api/phone", tags=["phone"])

_SDP: Final = "application/sdp"
_ANSWER: Final[dict[str, Any]] = {"description": "The answer.", "content": {_SDP: {"schema": {"type": "string"}}}}


class PhoneStateRequest(RequestModel):
    """What a phone's page says of the phone."""

    hidden: bool = Field(default=False, description="Whether another page is shown, or the phone is locked.")
    taken: bool = Field(default=False, description="Whether something else uses its camera.")
    turned: bool = Field(default=False, description="Whether it was turned since it began to send.")
    battery: Annotated[float | None, Field(ge=0, le=1)] = None
    charging: bool = False
    limited: Annotated[str, Field(pattern="^(cpu|bandwidth|)$")] = ""


class PhoneAdvice(TopicModel):
    """What the rig sees in a phone's pictures; nothing of the game."""

    sending: bool = Field(description="Whether the rig receives this phone's pictures.")
    text: str = Field(description="Whether the whole board is seen.")
    seen: bool = Field(default=False, description="Whether it is.")
    setting_up: bool = Field(default=True, description="Whether the table is being set up: the phone may be turned.")
    findings: tuple[SetupFinding, ...] = Field(default=(), description="What is wrong with the pictures.")


class PhoneDevice(TopicModel):
    """A phone that is the camera, or asks to be."""

    id: str
    name: str


class PhoneDetails(TopicModel):
    """The phone that is the camera."""

    source: str = Field(description="How to open it, as for --source.")
    camera: PhoneDevice | None = Field(default=None, description="The paired phone.")
    sending: bool = Field(default=False, description="Whether it sends pictures now.")
    asking: PhoneDevice | None = Field(default=None, description="Another phone that wants to take its place.")
    problems: tuple[SetupFinding, ...] = ()


class PhoneChoice(RequestModel):
    """The phone that is to be the camera from now on."""

    device: Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")]


def _cameras(store: TokenStore) -> list[PhoneDevice]:
    """Return the phones paired as the camera: the first one is it."""
    return [PhoneDevice(id=device.id, name=device.name) for device in store.devices() if device.role == "camera"]


def _the_camera(control: AccessControlDep, principal: PrincipalDep) -> Principal:
    """Return the phone that sends a request. Raises ProblemError: another one is the camera; the admin is asked."""
    first = _cameras(control.token_store)[0]
    if first.id == principal.device:
        return principal
    PHONE_LINK.ask(principal.device, principal.name)
    text = f"Another phone, '{first.name}', is the camera. The rig asks about this one on its panel."
    raise ProblemError(409, text, "another_phone")


CameraDep = Annotated[Principal, Depends(_the_camera)]


@phone_router.post(
    "/whip", "camera", summary="Send the camera's pictures (WHIP)", status_code=201, responses={201: _ANSWER}
)
async def offer(request: Request, control: AccessControlDep, phone: CameraDep) -> Response:
    """An SDP offer; the answer is SDP, and its Location ends the session when it is deleted (RFC 9725)."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _SDP:
        raise ProblemError(415, f"Send the offer as {_SDP}.")
    text = (await request.body()).decode(errors="replace")
    try:
        session, answer = await run_in_threadpool(PHONE_LINK.accept, text, phone.device, phone.name)
    except RefusedError as error:
        raise ProblemError(406, str(error), "no_video") from None
    except InputError as error:
        raise ProblemError(400, str(error)) from None
    except TimeoutError:
        raise ProblemError(503, "The offer was not answered in time. Send it again.", "busy") from None
    PHONE_LINK.device = next((one for one in control.token_store.devices() if one.id == phone.device), None)
    place = f"{request.scope.get('root_path', '')}/api/phone/whip/{session.id}"
    return Response(answer, 201, {"Location": place}, _SDP)


@phone_router.delete("/whip/{session}", "camera", summary="End the camera's pictures (WHIP)")
def leave(principal: PrincipalDep, session: Annotated[str, Path(pattern=r"^[0-9a-f]{16}$")]) -> Response:
    """The phone stays paired."""
    if not PHONE_LINK.end(principal.device, session):
        raise NotFoundError("This phone has no such session. It has ended already.")
    return Response(status_code=200)


@phone_router.post("/state", "camera", summary="Say how the phone is")
def note_state(phone: CameraDep, rig: RigPartsDep, hub: HubDep, state: PhoneStateRequest) -> PhoneAdvice:
    """Every second, by the phone's page; the response says what is wrong with its picture."""
    PHONE_LINK.note_state(PhoneState(**state.model_dump()))
    session = PHONE_LINK.session
    if session is None or session.sender != phone.device:
        return PhoneAdvice(sending=False, text="Connecting to the rig…")
    view = None if rig.table_setup is None else rig.table_setup.view()
    if view is not None and view.step in {"aim", "solving", "confirm"} and view.camera == session.name:
        seen = view.sees_field or view.step == "confirm"
        text = "The whole board is seen." if seen else "Hang the phone so that the whole board is in the picture."
        return PhoneAdvice(sending=True, text=text, seen=seen and not view.findings, findings=view.findings)
    health = hub.value("health")
    if not isinstance(health, HealthStatus) or health.camera != session.name:
        return PhoneAdvice(sending=True, text="The rig has the picture. If it doesn't play soon, use 'Set up a table'.")
    waits = health.calls == "suspended" and not health.setting_up
    findings = tuple(SetupFinding(text=one.text, remedy=one.remedy) for one in health.reasons if waits)
    text, setting_up = "The rig plays by this camera.", health.setting_up
    return PhoneAdvice(sending=True, text=text, seen=not findings, setting_up=setting_up, findings=findings)


@phone_router.get("", "admin", summary="The phone that is the camera")
def phone_details(control: AccessControlDep) -> PhoneDetails:
    """And the one that asks to be. `DELETE /api/devices/{device}` removes either."""
    cameras, session, asking = _cameras(control.token_store), PHONE_LINK.session, PHONE_LINK.asking
    problems = tuple(SetupFinding(text=one.text, remedy=one.remedy) for one in PHONE_LINK.state.problems())
    return PhoneDetails(
        source=PHONE_SOURCE,
        camera=cameras[0] if cameras else None,
        sending=session is not None,
        asking=next((one for one in cameras[1:] if asking is not None and one.id == asking[0]), None),
        problems=problems if cameras else (),
    )


@phone_router.post("/pairing", "admin", summary="Make a code for the phone that is to be the camera", status_code=201)
def pair_phone(request: Request, control: AccessControlDep, token_store: TokenStoreDep) -> PairingDetails:
    """It can be used once, within three minutes, and opens the camera page alone."""
    require_receiver()
    if not (control.policy.reachable and base_url(request).startswith("https:")):
        text = "A phone needs a secure page of this service. Stop Downfield and start it with 'downfield run --phone'."
        raise ProblemError(409, text, "not_here")
    refuse_unreachable(request)
    return pairing_details(request, token_store.make_code("camera"))


@phone_router.post("/choose", "admin", summary="Make another phone the camera")
def choose(control: AccessControlDep, principal: PrincipalDep, choice: PhoneChoice) -> PhoneDetails:
    """The one before, and all others that ask, are paired no more."""
    cameras = _cameras(control.token_store)
    if choice.device not in {one.id for one in cameras}:
        raise NotFoundError("No phone with this id is paired as the camera. Scan a new code with it.")
    for other in cameras:
        if other.id != choice.device:
            control.token_store.revoke(other.id, principal.name)
    return phone_details(control)
