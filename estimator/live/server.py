"""Web server of the page: one process, which listens on this machine only by default.

All files come from this server; the page makes no external requests.
"""

import errno
import functools
import socket
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from netcarlo.errors import InputError, MachineError
from netcarlo.live import guard
from netcarlo.live.limiter import BusyError, RequestLimiter, client_gone, disconnection_check
from netcarlo.live.page import Page
from netcarlo.live.scheduler import AbandonedError
from netcarlo.reports.page import style
from netcarlo.schema import kinds

REMEDY = "netcarlo live needs Dash; install it with pip install 'netcarlo[live]'"


def check_installed() -> None:
    """Raise InputError with the remedy if Dash is not installed."""
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
    """Return an empty Dash application in the style of the reports."""
    from dash import Dash

    app = Dash(
        "netcarlo.live", title=f"{title} · netcarlo live", update_title=None, add_log_handler=False,
        assets_folder=str(Path(__file__).parent / "assets"), index_string=INDEX.replace("STYLE", style()),
        suppress_callback_exceptions=True, serve_locally=True, include_assets_files=True,
    )  # fmt: skip
    # The version check would send a request to a server of Plotly.
    app.enable_dev_tools(debug=False, dev_tools_disable_version_check=True)
    return app


def page_of(file: Path, values: Mapping[str, Any]) -> Any:
    """Return the running application of a scenario or a plan; `values` replaces fields. Raises InputError."""
    from netcarlo.live import callbacks, layout
    from netcarlo.live.scheduler import Scheduler

    scheduler = Scheduler()
    page: Page
    if kinds.kind_of(file) == kinds.PLAN:
        from netcarlo.live.plan_page import PlanPage

        page = PlanPage(kinds.read(file, kinds.PLAN), values, scheduler)
    else:
        from netcarlo.live.scenario_page import ScenarioPage

        page = ScenarioPage(kinds.read(file, kinds.SCENARIO), values, scheduler)
    app = application(page.name)
    app.layout = lambda: layout.skeleton(page)
    callbacks.register(app, page)
    _give(app, page, RequestLimiter())
    scheduler.begin()
    return app


def _give(app: Any, page: Page, limiter: RequestLimiter) -> None:
    """Serve the files of the page, a few at a time. A request whose client has gone is dropped."""
    from flask import Response, request

    def give(name: str) -> Any:
        file = page.files[name]
        state, refused = page.state(request.query_string.decode("utf-8", "replace"))
        is_gone = client_gone(request.environ)
        try:
            if refused:
                raise InputError(refused)
            with limiter.admit(is_gone):
                text = file.make(state, disconnection_check(is_gone))
        except (InputError, MachineError) as error:
            return Response(f"error: {error}\n", status=400, mimetype="text/plain")
        except BusyError:
            busy = "error: too many files are being generated; try again in 10 seconds\n"
            return Response(busy, status=503, mimetype="text/plain", headers={"Retry-After": "10"})
        except AbandonedError:
            return Response("", status=503)  # the client has closed the connection
        found = Response(text, mimetype=file.type)
        if file.saved:
            found.headers["Content-Disposition"] = f"attachment; filename={name}"
        return found

    for name in page.files:
        app.server.add_url_rule(f"/{name}", name, functools.partial(give, name))


def bound(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 chooses a free port. Raises InputError."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (TypeError, UnicodeError, ValueError):
        raise InputError(_no_address(host)) from None
    except OSError as error:
        if error.errno is None or error.errno < 0 or error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            raise InputError(_no_address(host)) from None
        raise InputError(
            f"--port {port} at {host} cannot be used ({error.strerror}); write another, or 0 for a free one"
        ) from None
    except OverflowError:
        raise InputError(f"--port {port} is out of range; expected 0 to 65535; write --port 8050") from None


def _no_address(host: str) -> str:
    return (
        f"--host {host!r} is not an address of this machine; write 127.0.0.1, ::1, 0.0.0.0 (all interfaces), "
        "or a name of this machine"
    )


def begin(app: Any, listening: socket.socket) -> None:
    """Start the server in background threads, which end with the process."""
    import logging

    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    host, port = listening.getsockname()[:2]
    app.server.config["MAX_CONTENT_LENGTH"] = guard.MAX_BODY
    app.server.before_request(functools.partial(_guarded, host))
    server = make_server(host, port, app.server, threaded=True, fd=listening.fileno())
    thread = threading.Thread(target=server.serve_forever, daemon=True, name="netcarlo live server")
    thread.start()


def _guarded(bound_to: str) -> Any:
    """Return an error response unless the request comes from a page of this server; None if it does."""
    from flask import Response, request

    reason = guard.refusal(dict(request.headers), path=request.path, bound=bound_to)
    return Response(f"error: {reason}\n", status=403, mimetype="text/plain") if reason else None


def url(listening: socket.socket) -> str:
    """Return the URL of the page. An IPv6 address is in brackets."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def wait() -> None:
    """Wait until the process is interrupted."""
    threading.Event().wait()
