"""Facts on a local endpoint: ``/health`` for people and scripts, ``/metrics``."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from halk.deploy import metrics
from halk.errors import HalkError

Facts = Callable[[], dict[str, Any]]

_OLDEST = 15.0
"""Seconds after which facts that are not renewed mean a loop that hangs."""


class Health:
    """A small server in a thread of its own.

    Parameters
    ----------
    address : (host, port)
        Port 0 is any that is free.
    facts : callable
        Returns the newest facts with their ``age_seconds``; called in other threads.
    """

    def __init__(self, address: tuple[str, int], facts: Facts) -> None:
        class Handler(_Handler):
            newest = staticmethod(facts)

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET

        try:
            self._server = Server(address, Handler)
        except OSError as error:
            where = f"{address[0]}:{address[1]}"
            raise HalkError(
                f"health.listen must be free, got {where}: {error.strerror or error}; "
                "does another agent listen there?"
            ) from None
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="health", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop to listen."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    timeout = 5.0  # for one who connects and says nothing
    server_version, sys_version = "halk", ""
    newest: Facts

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path not in ("/health", "/metrics"):
            self._send(404, "text/plain", "there are /health and /metrics\n")
            return
        facts = self.newest()
        if facts["age_seconds"] > _OLDEST:
            facts = facts | {"status": "hangs"}
        if path == "/metrics":
            content = metrics.text(metrics.metrics(facts))
            self._send(200, metrics.CONTENT_TYPE, content)
            return
        code = 200 if facts["status"] == "ok" else 503
        content = json.dumps(facts, ensure_ascii=False, indent=1)
        self._send(code, "application/json", f"{content}\n")

    def do_HEAD(self) -> None:
        self.do_GET()

    def _send(self, code: int, kind: str, text: str) -> None:
        content = text.encode()
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: who asks is no event."""
