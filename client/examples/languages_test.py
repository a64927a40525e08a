"""The examples in Go and Java, built with the distribution's packages, and in Node, with packages of
npm, against a real server.

GRIDFOLD_SERVER_BINARY is the server. A language whose packages are missing is left out, and says so;
`deploy/install_dependencies.sh --languages` installs them, and npm its own in build/tools.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "client/python"))
import server_process  # noqa: E402

PROTO = ROOT / "proto"
EXAMPLES = ROOT / "client/examples"
GO_PATH = pathlib.Path("/usr/share/gocode")
NODE_PACKAGES = ["@grpc/grpc-js@1", "@grpc/proto-loader@0.7"]
JARS = pathlib.Path("/usr/share/java")
# What gRPC for Java needs at run time, beside itself.
JAR_NAMES = ["grpc-api", "grpc-core", "grpc-context", "grpc-netty", "grpc-protobuf",
             "grpc-protobuf-lite", "grpc-stub", "protobuf", "guava", "failureaccess", "perfmark-api",
             "netty-all", "netty-buffer", "netty-codec", "netty-codec-http", "netty-codec-http2",
             "netty-codec-socks", "netty-common", "netty-handler", "netty-handler-proxy",
             "netty-resolver", "netty-transport", "netty-transport-native-unix-common",
             "jsr305", "geronimo-annotation-1.3-spec", "javax.annotation-api",
             "error-prone-annotations", "gson"]
BUILD_SECONDS = 250
NPM_SECONDS = 60
RUN_SECONDS = 60


def missing_of(programs, files):
    """The programs and files of a language that are not there."""
    return [name for name in programs if not shutil.which(name)] + [
        str(path) for path in files if not path.exists()]


def install_node_packages(home):
    """Why npm could not install them, or nothing."""
    command = ["npm", "install", "--prefix", home, "--no-audit", "--no-fund", "--silent",
               "--fetch-retries=1", *NODE_PACKAGES]
    try:
        installed = subprocess.run(command, capture_output=True, text=True,
                                   timeout=NPM_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"it took longer than {NPM_SECONDS} s"
    return installed.stderr.strip()[-200:] or "?" if installed.returncode != 0 else ""


class LanguagesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(server_process.ServerProcess())

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_command(self, *command, seconds=BUILD_SECONDS, **environment):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True,
                              timeout=seconds, env={**os.environ, **environment}, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def generate(self, *options):
        self.run_command("protoc", "-I", PROTO, *options, *PROTO.glob("gridfold/v1/*.proto"))

    def check_answer(self, text):
        answers = dict(line.split() for line in text.splitlines())
        self.assertEqual({name: float(value) for name, value in answers.items()},
                         {"STATISTIC_SUM": 7.0, "STATISTIC_MAX": 4.0})

    def test_go(self):
        missing = missing_of(["go", "protoc", "protoc-gen-go", "protoc-gen-go-grpc"],
                             [GO_PATH / "src/google.golang.org/grpc",
                              GO_PATH / "src/google.golang.org/protobuf"])
        # Before version 1.4 it knows nothing of what protoc-gen-go generates.
        if not list(GO_PATH.glob("src/github.com/golang/protobuf/proto/registry.go")):
            missing.append("golang-github-golang-protobuf-1-5-dev")
        if missing:
            self.skipTest(f"no Go client can be built here without {', '.join(missing)}")
        source = self.folder / "src"
        source.mkdir()
        self.generate(f"--go_out={source}", f"--go-grpc_out={source}")
        self.run_command("go", "build", "-o", "sum", EXAMPLES / "go/main.go", GO111MODULE="off",
                         GOPATH=f"{self.folder}:{GO_PATH}", GOFLAGS="",
                         GOCACHE=os.environ.get("GOCACHE", str(self.folder / "cache")))
        self.check_answer(self.run_command(self.folder / "sum", self.server.target,
                                           seconds=RUN_SECONDS))

    def test_java(self):
        missing = missing_of(["java", "javac", "protoc", "grpc_java_plugin"],
                             [JARS / "grpc-netty.jar", JARS / "netty-common.jar",
                              JARS / "perfmark-api.jar"])
        if missing:
            self.skipTest(f"no Java client can be built here without {', '.join(missing)}")
        self.generate("--java_out=.", "--grpc-java_out=.",
                      "--plugin=protoc-gen-grpc-java=" + shutil.which("grpc_java_plugin"))
        class_path = ":".join(str(JARS / f"{name}.jar") for name in JAR_NAMES)
        self.run_command("javac", "-nowarn", "-proc:none", "-sourcepath", ".", "-cp", class_path,
                         "-d", "classes", EXAMPLES / "java/Sum.java")
        self.check_answer(self.run_command("java", "-cp", f"{class_path}:classes", "Sum",
                                           self.server.target, seconds=RUN_SECONDS))

    def test_node(self):
        missing = missing_of(["node", "npm"], [])
        if missing:
            self.skipTest(f"no Node client can run here without {', '.join(missing)}")
        home = ROOT / "build/tools/node_client"
        if not all((home / "node_modules" / name.rpartition("@")[0]).is_dir()
                   for name in NODE_PACKAGES):
            home.mkdir(parents=True, exist_ok=True)
            failure = install_node_packages(home)
            if failure:
                self.run_command("node", "--check", EXAMPLES / "node/sum.js")
                self.skipTest(f"its syntax is right, and npm cannot install what it needs: {failure}")
        self.check_answer(self.run_command("node", EXAMPLES / "node/sum.js", self.server.target,
                                           seconds=RUN_SECONDS, GRIDFOLD_PROTO=str(PROTO),
                                           NODE_PATH=str(home / "node_modules")))


if __name__ == "__main__":
    unittest.main()
