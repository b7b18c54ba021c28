# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven by the WebDriver protocol of chromedriver."""
import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request


class Browser:
    """Opens pages from files, without a network.  Use it in a 'with'."""

    def __init__(self, width=1280, height=1000):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.profile = tempfile.mkdtemp(prefix="sleuth-browser-")
        self.driver = subprocess.Popen(
            ["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.session = ""
        self.wait_until_ready()
        options = {
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu",
                     "--hide-scrollbars", "--disable-dev-shm-usage",
                     "--disable-background-networking",
                     f"--user-data-dir={self.profile}",
                     f"--window-size={width},{height}"]}
        reply = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
        self.session = f"/session/{reply['sessionId']}"
        self.open("about:blank")
        self.requests()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.ask("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            shutil.rmtree(self.profile, ignore_errors=True)

    def wait_until_ready(self):
        for _ in range(300):
            try:
                if self.ask("GET", "/status")["ready"]:
                    return
            except OSError:
                pass
            time.sleep(0.1)
        raise RuntimeError("chromedriver does not answer")

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.url + self.session + path, data, method=method,
            headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:
            text = json.load(error)["value"]["message"]
            raise RuntimeError(text) from None

    def command(self, name, **parameters):
        """A command of the DevTools protocol."""
        return self.ask("POST", "/goog/cdp/execute",
                        {"cmd": name, "params": parameters})

    def open(self, address):
        self.ask("POST", "/url", {"url": "about:blank"})
        self.ask("POST", "/url", {"url": address})

    def run(self, script, *args):
        """The value that a script returns."""
        return self.ask("POST", "/execute/sync",
                        {"script": script, "args": list(args)})

    def size(self, width, height):
        self.command("Emulation.setDeviceMetricsOverride", width=width,
                     height=height, deviceScaleFactor=1, mobile=width < 600)

    def scheme(self, name):
        """'light' or 'dark', as the reader's system asks for."""
        self.command("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": name}])

    def keys(self, text):
        """Types into the element that has the focus."""
        actions = [{"type": kind, "value": key} for key in text
                   for kind in ("keyDown", "keyUp")]
        self.ask("POST", "/actions", {"actions": [
            {"type": "key", "id": "keys", "actions": actions}]})

    def point(self, selector):
        """Moves the pointer onto the middle of an element."""
        x, y = self.run(
            "const b = document.querySelector(arguments[0]);"
            "b.scrollIntoView({block: 'center'});"
            "const r = b.getBoundingClientRect();"
            "return [r.x + r.width / 2, r.y + r.height / 2];", selector)
        self.ask("POST", "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "actions": [
                {"type": "pointerMove", "duration": 0, "x": round(x),
                 "y": round(y)}]}]})

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("GET", "/screenshot")))

    def views(self, path):
        """A picture of each view of a page: PATH-VIEW.png."""
        width = self.run("return innerWidth;")
        names = self.run("return [...document.querySelectorAll("
                         "'section.view')].map((view) => view.id);")
        for name in names:
            height = self.run(
                "const view = document.getElementById(arguments[0]);"
                "view.scrollIntoView(); return view.offsetHeight;", name)
            self.size(width, min(max(height + 160, 400), 4000))
            self.run("document.getElementById(arguments[0])"
                     ".scrollIntoView();", name)
            self.picture(f"{path}-{name}.png")
        self.size(width, 1000)

    def memory_bytes(self):
        """What the process that draws the page has for itself."""
        most = 0
        for folder in os.listdir("/proc"):
            try:
                with open(f"/proc/{folder}/cmdline", "rb") as file:
                    words = file.read()
                if b"--type=renderer" not in words or \
                        self.profile.encode() not in words:
                    continue
                with open(f"/proc/{folder}/smaps_rollup",
                          encoding="ascii") as file:
                    most = max(most, sum(
                        1024 * int(line.split()[1]) for line in file
                        if line.startswith("Private_")))
            except OSError:
                continue  # it ended, or is no process
        return most

    def pdf(self):
        return base64.b64decode(self.ask("POST", "/print", {}))

    def messages(self):
        """What the page wrote to the console since the last call."""
        return [entry["message"] for entry in
                self.ask("POST", "/se/log", {"type": "browser"})]

    def requests(self):
        """Addresses that were asked for since the last call."""
        found = []
        for entry in self.ask("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found
