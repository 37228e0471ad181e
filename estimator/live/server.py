"""The server: one process, on this machine only unless told otherwise, and nothing from the internet."""

import errno
import functools
import socket
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netcarlo.errors import InputError, MachineError
from netcarlo.live import guard
from netcarlo.live.desk import GoneError
from netcarlo.live.subject import Subject
from netcarlo.live.waiting import BusyError, Turns, checking, gone
from netcarlo.reports.page import style
from netcarlo.schema import kinds

REMEDY = "netcarlo live needs Dash; install it with pip install 'netcarlo[live]'"


def check_installed() -> None:
    """Raise InputError, saying what to do, where there is no Dash."""
    import importlib.util

    if importlib.util.find_spec("dash") is None:
        raise InputError(REMEDY)


INDEX = """<!DOCTYPE html>
<html lang="en">
<head>
{%metas%}
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{%title%}</title>
<style>STYLE</style>
{%css%}
</head>
<body>
<a class="skip" href="#main">Skip to the answer</a>
{%app_entry%}
{%config%}{%scripts%}{%renderer%}
</body>
</html>
"""


def application(title: str) -> Any:
    """An empty Dash application in the style of the reports."""
    from dash import Dash

    app = Dash(
        "netcarlo.live", title=f"{title} · netcarlo live", update_title=None, add_log_handler=False,
        assets_folder=str(Path(__file__).parent / "assets"), index_string=INDEX.replace("STYLE", style()),
        suppress_callback_exceptions=True, serve_locally=True, include_assets_files=True,
    )  # fmt: skip
    app.enable_dev_tools(
        debug=False, dev_tools_disable_version_check=True
    )  # it would ask a server of Plotly's
    return app


def page_of(file: Path, values: Mapping[str, Any]) -> Any:
    """The application of a scenario or a plan with these fields set, at work.  Raises InputError."""
    from netcarlo.live import callbacks, layout
    from netcarlo.live.desk import Desk

    desk = Desk()
    subject: Subject
    if kinds.kind_of(file) == kinds.PLAN:
        from netcarlo.live.of_plan import OfPlan

        subject = OfPlan(kinds.read(file, kinds.PLAN), values, desk)
    else:
        from netcarlo.live.of_scenario import OfScenario

        subject = OfScenario(kinds.read(file, kinds.SCENARIO), values, desk)
    app = application(subject.name)
    app.layout = lambda: layout.page(subject)
    callbacks.register(app, subject)
    _give(app, subject, Turns())
    desk.begin()
    return app


def _give(app: Any, subject: Subject, turns: Turns) -> None:
    """Serve the files of the page, a few at a time. A request whose client has gone is dropped."""
    from flask import Response, request

    def give(name: str) -> Any:
        file = subject.files[name]
        state, refused = subject.state(request.query_string.decode("utf-8", "replace"))
        is_gone = gone(request.environ)
        try:
            if refused:
                raise InputError(refused)
            with turns.turn(is_gone):
                text = file.make(state, checking(is_gone))
        except (InputError, MachineError) as error:
            return Response(f"error: {error}\n", status=400, mimetype="text/plain")
        except BusyError:
            busy = "error: too many files are being made; ask again in a while\n"
            return Response(busy, status=503, mimetype="text/plain", headers={"Retry-After": "10"})
        except GoneError:
            return Response("", status=503)  # nobody reads it
        found = Response(text, mimetype=file.type)
        if file.saved:
            found.headers["Content-Disposition"] = f"attachment; filename={name}"
        return found

    for name in subject.files:
        app.server.add_url_rule(f"/{name}", name, functools.partial(give, name))


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 is a free one.  Raises InputError."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (TypeError, UnicodeError, ValueError):
        raise InputError(_no_address(host)) from None
    except OSError as error:
        if error.errno is None or error.errno < 0 or error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            raise InputError(_no_address(host)) from None
        raise InputError(
            f"--port {port} at {host} cannot be used ({error.strerror}); name another, or 0 for a free one"
        ) from None
    except OverflowError:
        raise InputError(f"--port {port} is none; allowed is 0 to 65535; write --port 8050") from None


def _no_address(host: str) -> str:
    return (
        f"--host {host!r} is not an address of this machine; write 127.0.0.1, ::1, 0.0.0.0 (every address), "
        "or a name of this machine"
    )


def begin(app: Any, listening: socket.socket) -> None:
    """Serve in other threads, which end with the process."""
    import logging

    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    host, port = listening.getsockname()[:2]
    app.server.config["MAX_CONTENT_LENGTH"] = guard.LARGEST_BODY
    app.server.before_request(functools.partial(_guarded, host))
    server = make_server(host, port, app.server, threaded=True, fd=listening.fileno())
    thread = threading.Thread(target=server.serve_forever, daemon=True, name="netcarlo live server")
    thread.start()


def _guarded(bound_to: str) -> Any:
    """Refuse a request that no page of this server has made."""
    from flask import Response, request

    reason = guard.refusal(dict(request.headers), path=request.path, bound=bound_to)
    return Response(f"error: {reason}\n", status=403, mimetype="text/plain") if reason else None


def url(listening: socket.socket) -> str:
    """The address of the page; an IPv6 address stands in brackets."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def wait() -> None:
    """Wait until the process is interrupted."""
    threading.Event().wait()
