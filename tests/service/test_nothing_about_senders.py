"""Neither the store nor what the program prints holds anything about who sent: no address, no header, no token."""

import contextlib
import http.client
import signal
import subprocess
import sys

import pytest
from tests.service.served import TYPE, design, numbered

from dpress.query.designs import save_design

MARK = "mark-that-nothing-else-holds"
TOKEN = "token-of-the-administrator-0123"


def request(port, path, body, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    try:
        connection.request("POST", path, body, {"Content-Type": TYPE, **headers})
        answer = connection.getresponse()
        return answer.status, answer.read().decode() + str(answer.headers)
    finally:
        connection.close()


@pytest.mark.slow
def test_nothing_about_senders_is_kept_or_printed(tmp_path):
    asked = design()
    save_design(asked, tmp_path / "design.json")
    (tmp_path / "token").write_text(TOKEN)
    store = tmp_path / "reports.db"
    command = [sys.executable, "-m", "dpress", "serve", "design.json", "--store", f"sqlite:///{store}", "--port", "0"]
    path = f"/v1/collections/{asked.id}"
    marks = {"User-Agent": MARK, "X-Forwarded-For": MARK, "Cookie": MARK, "Forwarded": f"for={MARK}"}
    with subprocess.Popen(
        [*command, "--admin-token-file", "token"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process, contextlib.ExitStack() as stack:  # fmt: skip
        stack.callback(process.kill)
        first = process.stdout.readline()
        port = int(first.rpartition("//")[2].split("/")[0].rpartition(":")[2])
        answers = [
            request(port, f"{path}/reports?{MARK[:12]}", numbered(asked, 0, 20), **marks),
            request(port, f"{path}/reports", MARK, **marks),
            request(port, f"/{MARK[:12]}", b"", **marks),
            request(port, f"{path}/close", b"", Authorization=f"Bearer {TOKEN[:-1]}"),
            request(port, f"{path}/close", b"", Authorization=f"Bearer {TOKEN}"),
            request(port, f"{path}/reports", numbered(asked, 0, 20), **marks),
        ]
        kept = b"".join(one.read_bytes() for one in sorted(tmp_path.glob("reports.db*")))
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate()
    assert [status for status, _ in answers] == [200, 400, 404, 401, 200, 409]
    assert numbered(asked, 0, 20) in kept  # the control: what is kept is readable
    kept += b"".join(one.read_bytes() for one in sorted(tmp_path.glob("reports.db*")))
    assert b"127.0.0.1" not in kept
    for secret in (MARK, MARK[:12], TOKEN[:-1]):
        assert secret.encode() not in kept
        assert secret not in out + err
    assert not any(TOKEN[:-1] in text or "server" in text.lower().split(": ")[0] for _, text in answers)
    assert not any(one in out + err for one in ("reports ", "POST", "GET", "HTTP/"))
