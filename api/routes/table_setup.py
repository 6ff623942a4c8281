"""Setting up a table: camera, preview, calibration, name. For the admin only, since it opens cameras."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Path, Response

from downfield.api.context.access_control import AuthorizedRouter
from downfield.api.context.context import RigPartsDep
from downfield.api.http.problems import ProblemError
from downfield.api.http.requests import sends
from downfield.api.table_setup import (
    CameraRequestBody,
    MeasurementRequest,
    ReadingRequest,
    RenameRequest,
    SavedTableRequest,
    SetupControl,
    SetupView,
    SolveRequest,
    TableNameRequest,
    TableSetup,
)

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
