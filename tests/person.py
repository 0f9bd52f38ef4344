"""A person at the Live page without a browser: speaks Streamlit's protocol as the browser does.

Twenty browsers would take the machine's cores for themselves; the server cannot tell the
difference, since this asks for each tick, presses buttons and receives all that is drawn.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, field

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect


@dataclass
class Person:
    """What the server sent so far: buttons by label, ticks asked for, charts drawn."""

    socket: ClientConnection
    buttons: dict[str, str] = field(default_factory=dict)
    updates: list[float] = field(default_factory=list)
    page: str = ""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    ticking: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    trouble: Exception | None = None

    async def listen(self) -> None:
        """Take in what the server sends, until the connection ends."""
        try:
            async for data in self.socket:
                message = ForwardMsg()
                message.ParseFromString(bytes(data))
                self._take(message)
                self.changed.set()
        except Exception as trouble:  # told to whoever waits
            self.trouble = trouble
            self.changed.set()

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "navigation":
            self.page = message.navigation.page_script_hash
            self._stop_ticking()  # a run of the whole page begins
        elif kind == "auto_rerun":
            asked = message.auto_rerun
            tick = asyncio.create_task(self._tick(asked.fragment_id, asked.interval))
            self.ticking[asked.fragment_id] = tick
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            element = message.delta.new_element
            if element.WhichOneof("type") == "button":
                self.buttons.pop({"Play": "Pause", "Pause": "Play"}.get(element.button.label), None)
                self.buttons[element.button.label] = element.button.id
            elif element.bidi_component.id.endswith("-live chart"):
                self.updates.append(time.perf_counter())

    def _stop_ticking(self) -> None:
        for tick in self.ticking.values():
            tick.cancel()
        self.ticking.clear()

    async def _tick(self, fragment: str, interval: float) -> None:
        due = time.perf_counter()
        while True:
            due = max(due + interval, time.perf_counter() - interval)
            await asyncio.sleep(due - time.perf_counter())
            message = BackMsg()
            message.rerun_script.fragment_id = fragment
            message.rerun_script.is_auto_rerun = True
            message.rerun_script.page_script_hash = self.page
            await self.socket.send(message.SerializeToString())

    async def open(self) -> None:
        """Ask for the page and wait until it is there."""
        message = BackMsg()
        message.rerun_script.page_name = "live"
        await self.socket.send(message.SerializeToString())
        await self.until(lambda: "Play" in self.buttons and bool(self.updates))

    async def press(self, label: str) -> None:
        message = BackMsg()
        message.rerun_script.page_script_hash = self.page
        message.rerun_script.widget_states.widgets.add(id=self.buttons[label], trigger_value=True)
        await self.socket.send(message.SerializeToString())

    async def play(self) -> None:
        await self.press("Play")
        await self.until(lambda: "Pause" in self.buttons and bool(self.ticking))

    async def pause(self) -> float:
        """Press Pause; return the seconds until it is seen."""
        began = time.perf_counter()
        await self.press("Pause")
        await self.until(lambda: "Play" in self.buttons)
        return time.perf_counter() - began

    async def until(self, wanted: object, seconds: float = 120) -> None:
        assert callable(wanted)
        async with asyncio.timeout(seconds):
            while not wanted():
                self.changed.clear()
                await self.changed.wait()
                if self.trouble is not None:
                    raise self.trouble


@contextlib.asynccontextmanager
async def person(address: str):
    """Connect one person to a running app."""
    url = address.replace("http://", "ws://") + "/_stcore/stream"
    async with connect(url, subprotocols=["streamlit"], max_size=None, proxy=None) as socket:
        one = Person(socket)
        listening = asyncio.create_task(one.listen())
        try:
            yield one
        finally:
            one._stop_ticking()
            listening.cancel()
