"""A proxy as in front of a service: it serves all under a path that the service knows nothing of."""

import contextlib
import http.client
import http.server
import threading

PATH = "/surveys/ours"


def handler(port, path):
    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            self.passed_on()

        def do_POST(self):
            self.passed_on()

        def passed_on(self):
            if not self.path.startswith(f"{path}/"):
                self.send_error(404)
                return
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name: self.headers[name] for name in ("content-type", "authorization") if name in self.headers}
            with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port)) as behind:
                behind.request(self.command, self.path.removeprefix(path), body or None, headers)
                answer = behind.getresponse()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in {"connection", "transfer-encoding", "content-length"}:
                        self.send_header(name, value)
                self.end_headers()  # of HTTP/1.0: the end of the connection is that of the answer
                with contextlib.suppress(OSError, http.client.IncompleteRead):
                    while piece := answer.read1(1 << 16):
                        self.wfile.write(piece)
                        self.wfile.flush()

    return Handler


@contextlib.contextmanager
def proxied(port, path=PATH):
    """Yield the address under which a service on this port is served, with the path and a slash at its end."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(port, path)) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}{path}/"
        finally:
            server.shutdown()
