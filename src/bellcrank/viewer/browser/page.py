"""Pages: a run or a model in the browser, served to this machine alone unless told otherwise, or as one HTML file."""

from __future__ import annotations

import webbrowser
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from ...errors import MissingExtraError, StateError
from ...model import Model
from ...results import Run
from ...writing import refuse_to_replace, write_whole
from ..recording import Recording
from .charts import Charts
from .details import Details
from .playback import Playback
from .stage import Stage
from .workbench import Bench, Workbench

LOOPBACK = "127.0.0.1"
PORT = 8080
MOST_FRAMES = 5000  # of an HTML file


class Page:
    """A server that shows a mechanism. It ends with ``close``, or with the program."""

    def __init__(self, server: Any, recording: Recording, bench: Bench | None) -> None:
        self.server = server
        self.stage = Stage(server, lambda name: self.details.select(name))
        self.stage.set(recording.scene, recording.some_moments())
        self.playback = Playback(server, self.stage, recording)
        self.charts = Charts(server, self.playback)
        self.details = Details(server, self.playback)
        self.workbench = None if bench is None else Workbench(server, bench, self.playback, self.charts)
        self.playback.start()
        if self.workbench is not None:
            self.workbench.begin()

    @property
    def url(self) -> str:
        return f"http://{self.server.get_host()}:{self.server.get_port()}"

    def wait(self) -> None:
        """Serve until the user interrupts."""
        try:
            self.server.sleep_forever()
        except KeyboardInterrupt:
            pass
        finally:
            self.close()

    def close(self) -> None:
        self.playback.close()
        if self.workbench is not None:
            self.workbench.close()
        _stop(self.server)

    def __repr__(self) -> str:
        return f"<Page of {self.playback.recording.scene.model.name!r} at {self.url}>"


def view(what: Run | Model, *, host: str = LOOPBACK, port: int = PORT, open_browser: bool = True, **options: Any) -> Page:
    """Serve a run, or a model with sliders for its numbers; ``options`` of a model are those of ``simulate``."""
    bench = Bench(what, options) if isinstance(what, Model) else None
    if bench is None and options:
        raise StateError(f"{', '.join(options)} can be given for a model, and not for a run, which has been simulated")
    run = bench.run() if bench is not None else what
    assert isinstance(run, Run)
    recording = Recording(run)
    page = Page(_server(host, port, recording.scene.model.name), recording, bench)
    if open_browser:
        webbrowser.open(page.url)
    return page


def write_html(run: Run, path: str | Path, *, fps: float = 25.0, speed: float = 1.0, keep: bool = False) -> Path:
    """The motion as one HTML file that needs no server and no network."""
    refuse_to_replace([Path(path)], keep=keep)
    recording = Recording(run)
    frames = recording.frames(fps, speed, MOST_FRAMES)
    server = _server(LOOPBACK, PORT, recording.scene.model.name)
    try:
        stage = Stage(server)
        stage.set(recording.scene, recording.some_moments())
        stage.show(recording.placement(0))
        serializer = server.get_scene_serializer()
        for sample in frames:
            stage.show(recording.placement(int(sample)))
            serializer.insert_sleep(1 / fps)
        html = serializer.as_html()
    finally:
        _stop(server)
    return write_whole(path, lambda file: file.write(html.encode()), keep=keep)


def _server(host: str, port: int, title: str) -> Any:
    try:
        import viser
    except ImportError:
        raise MissingExtraError('the viewer needs viser. Install it with: pip install "bellcrank[view]"') from None
    with redirect_stdout(StringIO()):  # it prints a banner, where JSON or nothing at all is expected
        server = viser.ViserServer(host=host, port=port, label=title, verbose=False)
    server.gui.configure_theme(show_logo=False, show_share_button=False)
    server.gui.main_panel.dock_right()
    return server


def _stop(server: Any) -> None:
    with redirect_stdout(StringIO()):
        server.stop()
