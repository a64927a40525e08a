"""One cause of a connection that cannot be had, one message."""

import pathlib
import socket
import tempfile
import threading

import server_process
from cli_case import CommandLineTest, free_port
from security_test import make_certificates, openssl


class HttpServer:
    """Answers every connection as a web server, or a proxy, does that wants none of it."""

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.target = "127.0.0.1:%d" % self._listener.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()
        return self

    def _run(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(10)
                connection.recv(1000)
                connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

    def __exit__(self, *_):
        self._listener.close()


class ConnectionErrorTest(CommandLineTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.files = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        make_certificates(cls.files)
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-subj", "/CN=other", "-days", 30, "-keyout", cls.files / "other.key",
                "-out", cls.files / "other.crt")
        tls = ("--tls-certificate", cls.files / "server.crt", "--tls-key", cls.files / "server.key")
        cls.tls_server = server_process.ServerProcess(*map(str, tls))
        cls.enterClassContext(cls.tls_server)
        cls.mutual_server = server_process.ServerProcess(
            *map(str, (*tls, "--tls-client-ca", cls.files / "ca.crt")))
        cls.enterClassContext(cls.mutual_server)
        cls.trust = ("--tls-ca", cls.files / "ca.crt", "--tls-server-name", "gridfold.test")

    def expect(self, message, hint, *arguments, code=3, **options):
        result = self.expect_failure(code, message, "info", *arguments, **options)
        text = result.stderr.decode()
        if hint is not None:
            self.assertIn(hint, text)
        if hint != "start a server":
            self.assertNotIn("start a server", text)
        self.assertNotIn("all addresses", text)

    def test_nobody_there(self):
        port = free_port()
        for target in (f"127.0.0.1:{port}", f"localhost:{port}", f"dns:///localhost:{port}"):
            self.expect("connection refused", "start a server", "--server", target)
        self.expect("no such socket", "start a server", "--server", "unix:/nowhere/socket")
        self.expect("no host of that name", "--server", "--server", "no-such-host.invalid:50051")

    def test_targets_that_are_none(self):
        plain = self.server.target
        self.expect("is a URL", "--server:", "--server", f"http://{plain}", code=2)
        self.expect("is a URL", "--server:", "--server", f"https://{plain}", code=2)
        self.expect("from 1 to 65535", "--server:", "--server", "localhost:99999", code=2)
        self.expect("from 1 to 65535", "--server:", "--server", "localhost:port", code=2)

    def test_tls_on_one_side(self):
        tls = self.tls_server.target
        self.expect("speaks TLS only", "--tls-ca", "--server", tls)
        self.expect("speaks TLS only", "--tls-ca", "--server", self.mutual_server.target)
        self.expect("does not speak TLS", "--tls options out", *self.trust)

    def test_certificates(self):
        tls = ("--server", self.tls_server.target)
        self.succeed("info", *tls, *self.trust)
        self.expect("is not trusted", "--tls-ca", *tls, "--tls-ca", self.files / "other.crt",
                    *self.trust[2:])
        self.expect("is not trusted", "--tls-ca", *tls, "--tls", *self.trust[2:])
        self.expect("not for the name 127.0.0.1", "--tls-server-name", *tls, *self.trust[:2])
        self.expect("the caller's certificate", "--tls-certificate",
                    "--server", self.mutual_server.target, *self.trust)

    def test_files(self):
        for flag in ("--tls-ca", "--tls-certificate", "--tls-key"):
            self.expect(f"{flag}: /nowhere", None, flag, "/nowhere", code=4)
            self.expect(f"{flag}: /dev/null", None, flag, "/dev/null", code=4)
        self.expect("--tls-certificate", None, "--tls-certificate", self.files / "caller.crt",
                    code=2)

    def test_something_else_is_there(self):
        with HttpServer() as web:
            self.expect("HTTP/1, not gRPC", None, "--server", web.target)

    def test_nobody_answers(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            self.expect("no answer within 1s", None, "--timeout", 1,
                        "--server", "127.0.0.1:%d" % silent.getsockname()[1])

    def test_proxies(self):
        with HttpServer() as proxy:
            variables = {"http_proxy": f"http://{proxy.target}"}
            self.expect(f"the proxy {proxy.target} that http_proxy names", "no_proxy",
                        "--server", "gridfold.invalid:50051", environment=variables)
            self.expect("code 403", "no_proxy", "--server", "gridfold.invalid:50051",
                        environment=variables)
            # This machine is reached without it.
            self.succeed("info", environment=variables)
            port = self.server.target.rpartition(":")[2]
            self.succeed("info", "--server", f"localhost:{port}", environment=variables)
