"""The browser client and the collection service, by a real connection: what devices report becomes a release."""

import json
import signal
import subprocess
import sys
from collections import Counter
from statistics import NormalDist

import pytest
from tests.client.devices import BUILT, STORED, program

from dpress import estimate, load_design

pytest.importorskip("litestar", reason="the service is not installed")
pytest.importorskip("dpress.service.app", reason="this dpress has no service")

FALSE_ALARM = 1e-6  # the devices' coins are real
DEVICES = 300
SCRIPT = """
const [client, url, devices] = process.argv.slice(1);
const { Collection, memory } = await import(client);
let sent = 0;
for (const values of JSON.parse(devices)) {
  const own = await Collection.open(url, { store: memory(), jitter: 0, limit: 2 });
  sent += Number((await own.report(values)).sent);
  const again = await own.report(values);
  if (again.refused !== "answered already") throw new Error(again.refused);
}
console.log(sent);
"""


@pytest.fixture
def served(tmp_path):
    """Start the service with a stored design, and stop it."""
    place, store = STORED / "local_oue" / "design.json", f"sqlite:///{tmp_path / 'reports.db'}"
    command = [sys.executable, "-m", "dpress", "serve", str(place), "--store", store, "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield json.loads(process.stdout.readline())["collections"][0]["url"], store, load_design(place)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


@pytest.mark.slow
def test_devices_report_to_the_service_and_become_a_release(served):
    url, store, design = served
    (attribute,) = design.schema.attributes
    values = [attribute.values[place % 7 % len(attribute.values)] for place in range(DEVICES)]
    devices = json.dumps([{attribute.name: value} for value in values])
    command = [program("node"), "--input-type=module", "-e", SCRIPT, "--", BUILT.as_uri(), url, devices]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(DEVICES)
    release = estimate(design, store)
    assert (release.users, release.rejected) == (DEVICES, {})
    truth, far = Counter(values), NormalDist().inv_cdf(1 - FALSE_ALARM / (2 * attribute.size))
    for value in attribute.values:
        found = release.query(f"{attribute.name} = {value}")
        assert abs(found.value - truth[value]) < far * found.standard_error
