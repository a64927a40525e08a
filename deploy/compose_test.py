"""Checks compose.yaml: its parts fit each other, the files that they mount, the Dockerfile and the server.

Where there is Docker Compose (`docker compose` or docker-compose) it reads the file first; no daemon
is asked and no container runs. GRIDFOLD_SERVER_BINARY is the server.
"""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

import yaml

import image_facts
import server_facts

FOLDER = pathlib.Path(__file__).resolve().parent
FILE = FOLDER / "compose.yaml"
SERVERS = {"cpu": "server-cpu", "gpu": "server-gpu"}


def compose_command():
    """Docker Compose in either form, or None."""
    if shutil.which("docker") and subprocess.run(
            ["docker", "compose", "version"], capture_output=True).returncode == 0:
        return ["docker", "compose"]
    return ["docker-compose"] if shutil.which("docker-compose") else None


def seconds(text):
    assert text.endswith("s"), text
    return float(text[:-1])


def mounts(service):
    """Files of this folder, by where the service finds them."""
    found = {}
    for volume in service["volumes"]:
        source, target = volume.split(":")[:2]
        if source.startswith("."):
            assert volume.endswith(":ro"), volume
            found[target] = FOLDER / source
    return found


def edge_socket_path():
    """Where the edge finds the server."""
    text = (FOLDER / "edge" / "nginx.conf").read_text(encoding="utf-8")
    return re.search(r"server unix:(\S+);", text)[1]


class ComposeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        whole = yaml.safe_load(FILE.read_text(encoding="utf-8"))
        cls.services, cls.volumes = whole["services"], whole["volumes"]
        cls.facts = server_facts.server_facts((FOLDER / "compose.toml").read_text())

    def servers(self):
        return [self.services[name] for name in SERVERS.values()]

    def test_docker_compose_takes_it(self):
        command = compose_command()
        if command is None:
            self.skipTest("no docker compose")
        for profile in SERVERS:
            result = subprocess.run([*command, "-f", FILE, "--profile", profile, "config", "-q"],
                                    capture_output=True, text=True)
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_profile_starts_one_server_and_what_watches_it(self):
        for profile, name in SERVERS.items():
            started = [service for service, body in self.services.items()
                       if profile in body.get("profiles", [profile])]
            self.assertEqual(sorted(started), sorted([name, "edge", "prometheus", "grafana"]))

    def test_a_copy_of_the_tree_builds_what_it_starts(self):
        settings = dict(line.split("=") for line in (FOLDER.parent / ".env").read_text().splitlines()
                        if line and not line.startswith("#"))
        self.assertEqual((FOLDER.parent / settings["COMPOSE_FILE"]).resolve(), FILE)
        self.assertEqual(SERVERS[settings["COMPOSE_PROFILES"]], "server-cpu")
        for name in SERVERS.values():
            build = self.services[name]["build"]
            self.assertEqual((FOLDER / build["context"] / "Dockerfile").resolve(),
                             FOLDER.parent / "Dockerfile")
            for argument in build.get("args", {}):
                self.assertRegex(image_facts.TEXT, rf"(?m)^ARG {argument}=")
        # As the Dockerfile says that the image for the processor is built.
        for argument, value in self.services["server-cpu"]["build"]["args"].items():
            self.assertIn(f"--build-arg {argument}={value}", image_facts.TEXT)

    def test_only_this_machine_reaches_it(self):
        for service in self.services.values():
            for port in service.get("ports", []):
                self.assertTrue(port.startswith("127.0.0.1:"), port)

    def test_mounted_files_are_there(self):
        for name, service in self.services.items():
            for target, path in mounts(service).items():
                self.assertTrue(path.exists(), f"{name}: {path} for {target}")

    def test_servers_read_the_file_that_is_mounted(self):
        for server in self.servers():
            option, path = server["command"]
            self.assertEqual(option, "--config")
            self.assertEqual(mounts(server)[path], FOLDER / "compose.toml")

    def test_servers_are_checked_as_the_image_is_and_have_its_ports(self):
        for server in self.servers():
            self.assertEqual(server["healthcheck"]["test"], ["CMD", *image_facts.health_check()])
            self.assertEqual(server["environment"]["GRIDFOLD_SERVER"],
                             server["environment"]["GRIDFOLD_LISTEN"])
            self.assertNotIn("ports", server)
        for port in self.services["edge"]["ports"]:
            self.assertIn(int(port.split(":")[-1]), image_facts.ports())
        listens = re.findall(r'^(?:listen|metrics-address) = ".*:(\d+)"$',
                             (FOLDER / "compose.toml").read_text(), flags=re.MULTILINE)
        self.assertEqual({int(port) for port in listens}, image_facts.ports())

    def test_the_image_has_the_version_of_the_server(self):
        text = subprocess.run([os.environ["GRIDFOLD_SERVER_BINARY"], "--version"], check=True,
                              capture_output=True, text=True).stdout
        self.assertEqual(text.split(), ["gridfold_server", image_facts.version()])

    def test_servers_have_no_rights_and_keep_the_images_user(self):
        for server in self.servers():
            self.assertIs(server["read_only"], True)
            self.assertEqual(server["cap_drop"], ["ALL"])
            self.assertEqual(server["security_opt"], ["no-new-privileges:true"])
            self.assertNotIn("privileged", server)
            self.assertNotIn("user", server)
        self.assertNotIn(0, image_facts.user())

    def test_servers_have_time_to_stop_and_memory_for_their_limits(self):
        for server in self.servers():
            self.assertGreaterEqual(
                seconds(server["stop_grace_period"]),
                self.facts.grace_period_seconds + server_facts.stop_seconds_beyond_grace())
            self.assertTrue(server["mem_limit"].endswith("g"))
            self.assertGreaterEqual(int(server["mem_limit"][:-1]) << 30,
                                    self.facts.host_bytes_max(resident_on_host=True))

    def test_the_edge_and_the_servers_share_the_socket_and_nothing_else(self):
        edge = self.services["edge"]
        files = mounts(edge)
        self.assertEqual(files["/etc/gridfold/edge/nginx.conf"], FOLDER / "edge/nginx.conf")
        self.assertIn("/etc/gridfold/edge/listen.conf", files)
        self.assertIn("/etc/gridfold/edge/nginx.conf", edge["command"])
        self.assertEqual(tuple(map(int, edge["user"].split(":"))), image_facts.user())
        self.assertIn("uid={},gid={}".format(*image_facts.user()),
                      self.volumes["socket"]["driver_opts"]["o"])
        path = edge_socket_path()
        for service in (edge, *self.servers()):
            folder, = [volume.split(":")[1] for volume in service["volumes"]
                       if volume.startswith("socket:")]
            self.assertEqual(pathlib.Path(path).parent, pathlib.Path(folder))
            self.assertIs(service["read_only"], True)
            self.assertEqual(service["cap_drop"], ["ALL"])
            self.assertEqual(service["security_opt"], ["no-new-privileges:true"])
        for server in self.servers():
            self.assertEqual(server["environment"]["GRIDFOLD_LISTEN"], f"unix:{path}")
            self.assertGreater(seconds(edge["stop_grace_period"]),
                               seconds(server["stop_grace_period"]))

    def test_prometheus_knows_the_servers_and_the_rules(self):
        files = mounts(self.services["prometheus"])
        config = yaml.safe_load(files["/etc/prometheus/prometheus.yml"].read_text())
        for rules in config["rule_files"]:
            self.assertEqual(files[f"/etc/prometheus/{rules}"].name, rules)
        host, port = config["scrape_configs"][0]["static_configs"][0]["targets"][0].split(":")
        for server in self.servers():
            self.assertIn(host, server["networks"]["default"]["aliases"])
        self.assertIn(f'metrics-address = "0.0.0.0:{port}"',
                      (FOLDER / "compose.toml").read_text())

    def test_grafana_finds_prometheus_and_the_dashboard(self):
        files = mounts(self.services["grafana"])
        provisioning = files["/etc/grafana/provisioning"]
        source, = yaml.safe_load(
            (provisioning / "datasources/prometheus.yml").read_text())["datasources"]
        self.assertEqual(source["url"], "http://prometheus:9090")
        provider, = yaml.safe_load(
            (provisioning / "dashboards/gridfold.yml").read_text())["providers"]
        dashboard = pathlib.PurePosixPath(provider["options"]["path"]) / "gridfold.json"
        self.assertEqual(files[str(dashboard)], FOLDER / "monitoring/grafana/gridfold.json")


if __name__ == "__main__":
    unittest.main()
