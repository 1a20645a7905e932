"""A headless Chromium, driven by its DevTools protocol, that keeps count of what it asks for."""

import asyncio
import base64
import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import aiohttp

PROGRAM = shutil.which("chromium")
QUIET = (  # nothing but what the page asks for
    "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --no-pings "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--disable-default-apps --disable-extensions --disable-domain-reliability "
    "--window-size=1500,950 --remote-debugging-port=0"
).split()
NO_WAY_OUT = "--host-resolver-rules=MAP * ~NOTFOUND"  # for Chromium's own errands, too
PATIENCE = 120.0  # seconds


class Browser:
    """A page in a browser of its own; `requests` are the addresses that it asked for.

    A context manager. After its end `asked_outside` holds the addresses on a network that a page
    asked for, as Chromium's own log of it has them (its own errands have no origin).
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.requests: list[str] = []
        self.asked_outside: list[str] = []
        self.loop = asyncio.new_event_loop()
        self.number = 0

    def __enter__(self) -> "Browser":
        self.log = self.folder / "network.json"
        profile = self.folder / "profile"
        words = [PROGRAM, *QUIET, NO_WAY_OUT]
        words += [f"--user-data-dir={profile}", f"--log-net-log={self.log}"]
        with (self.folder / "chromium.log").open("w") as said:
            self.process = subprocess.Popen([*words, "about:blank"], stdout=said, stderr=said)
        try:
            port = profile / "DevToolsActivePort"
            self.until(lambda: port.exists() and port.read_text().count("\n"), "the browser's port")
            number, path = port.read_text().split()
            self.loop.run_until_complete(self._connect(f"ws://127.0.0.1:{number}{path}"))
        except BaseException:
            self.process.kill()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.call("Browser.close", session=None)
            self.process.wait(PATIENCE)
            self.loop.run_until_complete(self.session.close())
        finally:
            self.process.kill()
            self.loop.close()
        events = [event.get("params", {}) for event in json.loads(self.log.read_text())["events"]]
        asked = {x["url"] for x in events if x.get("initiator", "not an origin") != "not an origin"}
        self.asked_outside = sorted(asked)

    async def _connect(self, address: str) -> None:
        self.session = aiohttp.ClientSession()
        self.socket = await self.session.ws_connect(address, max_msg_size=0)
        found = await self._call("Target.getTargets", None)
        target = next(one for one in found["targetInfos"] if one["type"] == "page")
        words = {"targetId": target["targetId"], "flatten": True}
        self.page = (await self._call("Target.attachToTarget", None, **words))["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            await self._call(f"{domain}.enable", self.page)

    async def _call(self, method: str, session: str | None, **params: Any) -> dict:
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        await self.socket.send_json(message | ({"sessionId": session} if session else {}))
        while True:
            answer = await asyncio.wait_for(self.socket.receive_json(), PATIENCE)
            if answer.get("method") == "Network.requestWillBeSent":
                self.requests.append(answer["params"]["request"]["url"])
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]

    def call(self, method: str, session: str | None = "page", **params: Any) -> dict:
        """A command of the DevTools protocol, to the page or (None) to the browser."""
        target = self.page if session else None
        return self.loop.run_until_complete(self._call(method, target, **params))

    def open(self, path: Path) -> None:
        """Open a file and wait until it and all that it shows is there."""
        self.call("Page.navigate", url=path.as_uri())
        self.until(lambda: self.run("document.readyState") == "complete", str(path))

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression in the page."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def until(self, holds: Any, what: str) -> None:
        """Wait until something holds."""
        ended = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < ended, f"waited in vain for {what}"
            time.sleep(0.02)

    def photograph(self, path: Path) -> None:
        """A screenshot of what is seen."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
