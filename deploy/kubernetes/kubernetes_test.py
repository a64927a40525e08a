"""Renders each overlay and checks what comes of it, with the server's own word on its options.

Needs `kustomize`, or a kubectl of 1.27 or newer, which has it inside. There is no cluster and no
schema here: that the API server takes the objects is not tested.

GRIDFOLD_SERVER_BINARY is the server.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib
import unittest

import yaml

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))
import image_facts  # noqa: E402
import server_facts  # noqa: E402

SKIPPED = 77  # The exit code by which CTest knows a test that could not run here.
UNITS = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}


def renderer():
    """The command that renders a folder, or None."""
    if shutil.which("kustomize"):
        return ["kustomize", "build"]
    if shutil.which("kubectl"):
        version = json.loads(subprocess.run(
            ["kubectl", "version", "--client", "-o", "json"], check=True, capture_output=True,
            text=True).stdout)["clientVersion"]
        if (int(version["major"]), int(version["minor"].rstrip("+"))) >= (1, 27):
            return ["kubectl", "kustomize"]
    return None


def quantity(text):
    """A quantity of Kubernetes as a number."""
    text = str(text)
    return int(text[:-2]) * UNITS[text[-2:]] if text[-2:] in UNITS else int(text)


def port_number(overlay, port):
    """The number of a port that may stand by its name."""
    numbers = {entry["name"]: entry["containerPort"] for entry in overlay.container_ports}
    return numbers[port] if isinstance(port, str) else port


class Overlay:
    def __init__(self, name):
        text = subprocess.run([*renderer(), FOLDER / "overlays" / name], check=True,
                              capture_output=True, text=True).stdout
        self.name = name
        self.objects = {}
        for item in yaml.safe_load_all(text):
            self.objects[item["kind"], item["metadata"]["name"]] = item
        self.deployment = self.of_kind("Deployment")
        self.template = self.deployment["spec"]["template"]
        self.pod = self.template["spec"]
        self.container, = self.pod["containers"]
        # Behind an edge it is the edge that has the port.
        self.edge, = self.pod.get("initContainers", [None])
        self.container_ports = [port for container in (self.container, self.edge) if container
                                for port in container["ports"]]
        self.config_text = self.config_map("gridfold.toml")["data"]["gridfold.toml"]
        self.config = tomllib.loads(self.config_text)
        self.facts = server_facts.server_facts(self.config_text)

    def of_kind(self, kind):
        found, = [item for (item_kind, _), item in self.objects.items() if item_kind == kind]
        return found

    def config_map(self, file):
        found, = [item for (kind, _), item in self.objects.items()
                  if kind == "ConfigMap" and file in item["data"]]
        return found

    def mounted(self, container, path):
        """The volume that a container finds at a path."""
        name, = [mount["name"] for mount in container["volumeMounts"] if mount["mountPath"] == path]
        volume, = [volume for volume in self.pod["volumes"] if volume["name"] == name]
        return volume

    def services(self):
        return [item for (kind, _), item in self.objects.items() if kind == "Service"]


class OverlayChecks:
    """What holds for every overlay; `name` says which."""

    @classmethod
    def setUpClass(cls):
        cls.overlay = Overlay(cls.name)

    def test_objects_are_complete(self):
        overlay = self.overlay
        self.assertEqual(sorted(overlay.objects), [
            *sorted((kind, name) for kind, name in overlay.objects if kind == "ConfigMap"),
            ("Deployment", "gridfold"), ("HorizontalPodAutoscaler", "gridfold"),
            ("NetworkPolicy", "gridfold"), ("PodDisruptionBudget", "gridfold"),
            ("Service", "gridfold"), ("Service", "gridfold-headless"),
            ("ServiceMonitor", "gridfold")])

    def test_selectors_match_the_pods_and_not_everything(self):
        overlay = self.overlay
        labels = overlay.template["metadata"]["labels"]
        selectors = [
            overlay.deployment["spec"]["selector"]["matchLabels"],
            overlay.of_kind("PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
            overlay.of_kind("NetworkPolicy")["spec"]["podSelector"]["matchLabels"],
            *[service["spec"]["selector"] for service in overlay.services()],
            *[spread["labelSelector"]["matchLabels"]
              for spread in overlay.pod["topologySpreadConstraints"]]]
        for selector in selectors:
            self.assertTrue(selector)
            self.assertLessEqual(selector.items(), labels.items())
        target = overlay.of_kind("HorizontalPodAutoscaler")["spec"]["scaleTargetRef"]
        self.assertEqual((target["kind"], target["name"]), ("Deployment", "gridfold"))
        self.assertNotIn("replicas", overlay.deployment["spec"])

    def test_callers_need_their_label_and_no_other(self):
        overlay = self.overlay
        policy = overlay.of_kind("NetworkPolicy")["spec"]
        callers, prometheus = policy["ingress"]
        self.assertEqual(callers["from"],
                         [{"podSelector": {"matchLabels": {"gridfold-client": "true"}}}])
        self.assertEqual([port_number(overlay, port["port"])
                          for rule in (callers, prometheus) for port in rule["ports"]],
                         [50051, 9464])
        self.assertIn("Egress", policy["policyTypes"])
        self.assertNotIn("egress", policy)

    def test_ports_are_those_that_the_server_listens_on(self):
        overlay = self.overlay
        ports = {entry["name"]: str(entry["containerPort"])
                 for entry in overlay.container_ports}
        self.assertEqual(overlay.config["listen"], "0.0.0.0:" + ports["grpc"])
        self.assertEqual(overlay.config["metrics-address"], "0.0.0.0:" + ports["metrics"])
        for service in overlay.services():
            for port in service["spec"]["ports"]:
                self.assertIn(port["targetPort"], ports)
                self.assertEqual(str(port["port"]), ports[port["targetPort"]])

    def test_probes_ask_the_port_of_grpc(self):
        overlay = self.overlay
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            port = overlay.container[probe]["grpc"]["port"]
            self.assertIsInstance(port, int)  # gRPC probes take no names.
            self.assertEqual(port, port_number(overlay, "grpc"))
        # A pod is taken out of use sooner than it is restarted.
        patience = {name: probe["periodSeconds"] * probe["failureThreshold"] for name, probe in
                    overlay.container.items() if name.endswith("Probe")}
        self.assertLess(patience["readinessProbe"], patience["livenessProbe"])

    def test_pods_are_given_time_to_drain(self):
        overlay = self.overlay
        needed = (overlay.container["lifecycle"]["preStop"]["sleep"]["seconds"] +
                  overlay.facts.grace_period_seconds +
                  server_facts.stop_seconds_beyond_grace())
        self.assertGreaterEqual(overlay.pod["terminationGracePeriodSeconds"], needed)
        readiness = overlay.container["readinessProbe"]
        self.assertLessEqual(readiness["periodSeconds"],
                             overlay.container["lifecycle"]["preStop"]["sleep"]["seconds"])

    def test_config_is_mounted_where_the_server_looks(self):
        overlay = self.overlay
        volume = overlay.mounted(overlay.container, "/etc/gridfold")
        self.assertIn(("ConfigMap", volume["configMap"]["name"]), overlay.objects)
        self.assertNotEqual(volume["configMap"]["name"], "gridfold")  # A hash rolls pods.
        self.assertEqual(overlay.container["args"], ["--config", "/etc/gridfold/gridfold.toml"])

    def test_memory_holds_what_the_limits_allow(self):
        overlay = self.overlay
        resources = overlay.container["resources"]
        is_cpu = overlay.config["engine"] == "cpu"
        gpus = 1 if is_cpu else resources["limits"]["nvidia.com/gpu"]
        needed = overlay.facts.host_bytes_max(resident_on_host=is_cpu, gpu_count=gpus)
        self.assertGreaterEqual(quantity(resources["limits"]["memory"]), needed)
        self.assertEqual(resources["limits"]["memory"], resources["requests"]["memory"])
        text = (FOLDER / "overlays" / overlay.name.removesuffix("_edge") / "resources.yaml").read_text()
        self.assertEqual([float(gibibytes) * 2**30 for gibibytes in
                          re.findall(r"([\d.]+) GiB is what", text)], [needed])

    def test_autoscaler_acts_before_the_queue_refuses(self):
        overlay = self.overlay
        targets = {entry["pods"]["metric"]["name"]:
                   quantity(entry["pods"]["target"]["averageValue"]) for entry in
                   overlay.of_kind("HorizontalPodAutoscaler")["spec"]["metrics"]}
        self.assertEqual(targets, {
            "gridfold_queue_bytes": overlay.facts.limits["queued_bytes_max"] // 4,
            "gridfold_queue_jobs": overlay.facts.limits["queued_jobs_max"] // 4})

    def test_one_service_is_scraped_under_the_name_that_alerts_know(self):
        overlay = self.overlay
        monitor = overlay.of_kind("ServiceMonitor")["spec"]
        port, = [endpoint["port"] for endpoint in monitor["endpoints"]]
        scraped = [service for service in overlay.services()
                   if monitor["selector"]["matchLabels"].items() <=
                   service["metadata"]["labels"].items()
                   and port in [entry["name"] for entry in service["spec"]["ports"]]]
        self.assertEqual(len(scraped), 1)
        self.assertEqual(scraped[0]["metadata"]["labels"][monitor["jobLabel"]], "gridfold")

    def test_pods_have_the_images_ports(self):
        ports = {port["containerPort"] for port in self.overlay.container_ports}
        self.assertEqual(ports, image_facts.ports())

    def test_pods_have_no_rights(self):
        overlay = self.overlay
        self.assertTrue(overlay.pod["securityContext"]["runAsNonRoot"])
        self.assertEqual((overlay.pod["securityContext"]["runAsUser"],
                          overlay.pod["securityContext"]["runAsGroup"]), image_facts.user())
        self.assertEqual(overlay.pod["securityContext"]["seccompProfile"]["type"],
                         "RuntimeDefault")
        self.assertFalse(overlay.pod["automountServiceAccountToken"])
        self.assertFalse(overlay.pod["enableServiceLinks"])
        for container in filter(None, (overlay.container, overlay.edge)):
            security = container["securityContext"]
            self.assertFalse(security["allowPrivilegeEscalation"])
            self.assertTrue(security["readOnlyRootFilesystem"])
            self.assertEqual(security["capabilities"], {"drop": ["ALL"]})


class CpuOverlayTest(OverlayChecks, unittest.TestCase):
    name = "cpu"

    def test_threads_are_as_many_as_the_processors(self):
        self.assertEqual(self.overlay.config["engine"], "cpu")
        resources = self.overlay.container["resources"]
        self.assertEqual(self.overlay.config["cpu-threads"], quantity(resources["requests"]["cpu"]))
        self.assertNotIn("nvidia.com/gpu", resources["limits"])


class GpuOverlayTest(OverlayChecks, unittest.TestCase):
    name = "gpu"

    def test_pods_have_a_gpu_and_insist_on_it(self):
        self.assertEqual(self.overlay.config["engine"], "cuda")
        self.assertEqual(self.overlay.container["resources"]["limits"]["nvidia.com/gpu"], 1)
        self.assertIn("nvidia.com/gpu", [entry["key"] for entry in self.overlay.pod["tolerations"]])


class EdgeChecks:
    """What holds behind an edge besides."""

    def test_the_server_listens_where_the_edge_looks(self):
        overlay = self.overlay
        text = overlay.config_map("nginx.conf")["data"]["nginx.conf"]
        path = re.search(r"server unix:(\S+);", text)[1]
        # Goes before the file's address.
        variables = {entry["name"]: entry["value"] for entry in overlay.container["env"]}
        self.assertEqual(variables, {"GRIDFOLD_LISTEN": f"unix:{path}"})
        folder = str(pathlib.PurePosixPath(path).parent)
        self.assertEqual(overlay.mounted(overlay.container, folder),
                         overlay.mounted(overlay.edge, folder))
        self.assertEqual((overlay.pod["securityContext"]["runAsUser"],
                          overlay.pod["securityContext"]["fsGroup"]), image_facts.user())

    def test_the_edge_is_that_of_every_set_up(self):
        overlay = self.overlay
        data = overlay.config_map("nginx.conf")["data"]
        edge = FOLDER.parent / "edge"
        self.assertEqual(data["nginx.conf"], (edge / "nginx.conf").read_text())
        self.assertEqual(data["listen.conf"], (edge / "listen_plain.conf").read_text())
        volume = overlay.mounted(overlay.edge, "/etc/gridfold/edge")
        self.assertIn(("ConfigMap", volume["configMap"]["name"]), overlay.objects)
        self.assertIn("/etc/gridfold/edge/nginx.conf", overlay.edge["command"])

    def test_the_edge_outlives_the_server_in_its_pod(self):
        self.assertEqual(self.overlay.edge["restartPolicy"], "Always")


class CpuEdgeOverlayTest(EdgeChecks, CpuOverlayTest):
    name = "cpu_edge"


class GpuEdgeOverlayTest(EdgeChecks, GpuOverlayTest):
    name = "gpu_edge"


if __name__ == "__main__":
    if renderer() is None:
        print("skipped: no kustomize, and no kubectl of 1.27 or newer")
        sys.exit(SKIPPED)
    unittest.main()
