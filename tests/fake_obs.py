"""An OBS that speaks obs-websocket 5, and waiting for what it is asked for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from waiting import WAIT_S
from websockets.asyncio.server import ServerConnection, serve

from downfield.broadcast.integrations.obs import authentication

PASSWORD, SALT, CHALLENGE = (
    "supersecretpassword",
    "lM1GncleQOaCu9lT1yeUZhFYnqhsLLP1G5lAGo3ixaI=",
    "+IxH4CnCiqpX1rM9scsNynZzbOe4KhDeYcTNS3PDaeY=",
)


class FakeObs:
    """Speaks obs-websocket 5.

    Attributes:
        scene: in the program now.
        asked: every request, in order.
        refuse: requests that are refused, with the code of the refusal.
    """

    def __init__(self, password: str = "") -> None:
        self._password = password
        self.scene = "Table"
        self.asked: list[str] = []
        self.refuse: dict[str, int] = {}
        self.connections: list[ServerConnection] = []

    async def handle(self, socket: ServerConnection) -> None:
        self.connections.append(socket)
        hello: dict[str, Any] = {"obsWebSocketVersion": "5.5.0", "rpcVersion": 1}
        if self._password:
            hello["authentication"] = {"salt": SALT, "challenge": CHALLENGE}
        await socket.send(json.dumps({"op": 0, "d": hello}))
        identify = json.loads(await socket.recv())
        assert (identify["op"], identify["d"]["rpcVersion"]) == (1, 1)
        if self._password and identify["d"].get("authentication") != authentication(self._password, SALT, CHALLENGE):
            await socket.close(4009, "Authentication failed.")
            return
        await socket.send(json.dumps({"op": 2, "d": {"negotiatedRpcVersion": 1}}))
        async for message in socket:
            await self._answer(socket, json.loads(message))

    async def _answer(self, socket: ServerConnection, message: dict[str, Any]) -> None:
        assert message["op"] == 6
        kind, data = message["d"]["requestType"], message["d"]["requestData"]
        self.asked.append(kind)
        answer: dict[str, Any] = {}
        if kind == "SetCurrentProgramScene" and kind not in self.refuse:
            self.scene = data["sceneName"]
            self.asked[-1] = f"scene {self.scene}"
        elif kind == "GetCurrentProgramScene":
            answer = {"currentProgramSceneName": self.scene}
        status = {"result": kind not in self.refuse, "code": self.refuse.get(kind, 100)}
        response = {"requestType": kind, "requestId": message["d"]["requestId"], "requestStatus": status}
        await socket.send(json.dumps({"op": 7, "d": response | {"responseData": answer}}))

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        async with serve(self.handle, "127.0.0.1", 0) as server:
            yield f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"


def run(work: Coroutine[Any, Any, object]) -> None:
    """Run a test's work."""
    asyncio.run(asyncio.wait_for(work, WAIT_S))
