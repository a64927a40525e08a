"""TLS and tokens, from the command line to the server and back."""

import hashlib
import json
import os
import pathlib
import subprocess
import tempfile

from cli_case import DELAY, CommandLineTest

TOKEN = "a-token-of-the-tests"


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=60)


def make_certificates(folder):
    """An authority, ca, and two certificates of it, server and caller."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl("req", "-x509", *key, "-subj", "/CN=ca", "-days", 30, "-keyout", folder / "ca.key",
            "-out", folder / "ca.crt")
    (folder / "names").write_text("subjectAltName=DNS:gridfold.test\n")
    for name in ("server", "caller"):
        openssl("req", *key, "-subj", f"/CN={name}", "-keyout", folder / f"{name}.key",
                "-out", folder / f"{name}.csr")
        openssl("x509", "-req", "-in", folder / f"{name}.csr", "-CA", folder / "ca.crt",
                "-CAkey", folder / "ca.key", "-CAcreateserial", "-days", 30,
                "-extfile", folder / "names", "-out", folder / f"{name}.crt")


class SecurityTest(CommandLineTest):
    @classmethod
    def setUpClass(cls):
        files = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        make_certificates(files)
        digest = hashlib.sha256(TOKEN.encode()).hexdigest()
        (files / "tokens.json").write_text(
            json.dumps({"tokens": [{"sha256": digest, "tenant": "reports"}]}))
        (files / "token").write_text(TOKEN + "\n")
        cls.server_options = (
            "--tls-certificate", files / "server.crt", "--tls-key", files / "server.key",
            "--tls-client-ca", files / "ca.crt", "--token-file", files / "tokens.json")
        cls.trust = ("--tls-ca", files / "ca.crt", "--tls-server-name", "gridfold.test")
        cls.certificate = ("--tls-certificate", files / "caller.crt",
                           "--tls-key", files / "caller.key")
        cls.token = ("--token-file", files / "token")
        super().setUpClass()

    def test_who_has_all_of_it_is_answered(self):
        secured = (*self.trust, *self.certificate, *self.token)
        self.assertEqual(self.reduce(DELAY, *secured, stat="count"),
                         self.reduce(DELAY, *secured, "--tenant", "reports", stat="count"))

    def test_the_load_generator_has_the_same_options(self):
        load = [os.environ["GRIDFOLD_LOAD_BINARY"], "--server", self.server.target, "--warm-up", 0,
                "--count", 50, "--concurrency", 2, "--verify", "all"]
        for transport in ("inline", "stream", "resident"):
            result = subprocess.run(
                map(str, [*load, "--transport", transport, *self.trust, *self.certificate,
                          *self.token]), capture_output=True, text=True, timeout=120)
            self.assertEqual(result.returncode, 0, result.stderr)
        result = subprocess.run(map(str, [*load, *self.trust, *self.certificate]),
                                capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("token", result.stderr)

    def test_an_empty_token_file_is_an_error(self):
        self.expect_failure(4, "no token", "info", "--token-file", "/dev/null")

    def test_what_is_missing_is_said(self):
        self.expect_failure(3, "cannot connect", "info")
        self.expect_failure(3, "cannot connect", "info", *self.trust[:2], *self.certificate)
        self.expect_failure(3, "cannot connect", "info", "--tls", *self.certificate)
        reduction = ("reduce", DELAY, "--stat", "sum", *self.trust, *self.certificate)
        self.expect_failure(1, "token", *reduction)
        self.expect_failure(1, "tenant", *reduction, "--tenant", "other", *self.token)
        self.expect_failure(4, "/nowhere", *reduction, "--token-file", "/nowhere")

    def test_without_a_certificate_nothing_is_answered(self):
        self.expect_failure(3, "", "info", *self.trust, *self.token)

    def test_health_needs_no_token_and_statistics_an_administrators(self):
        self.succeed("info", "--health", *self.trust, *self.certificate)
        shown = self.json("info", *self.trust, *self.certificate, *self.token)
        self.assertEqual(shown["health"], "SERVING")
        self.assertIsNone(shown["statistics"])

    def test_a_token_is_not_sent_in_the_clear(self):
        result = self.expect_failure(2, "without encryption", "info", *self.token,
                                     "--server", "192.0.2.1:50051")
        self.assertNotIn(TOKEN, result.stderr.decode())
