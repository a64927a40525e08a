#!/usr/bin/env python3
"""Compiles the sources that changed last each by itself, without keeping anything of it.

run_tests.sh builds several files at a time and with precompiled headers, where a file finds what
others include. A user's build of one file at a time would be the first to show that an include is
missing in it.

    deploy/compile_alone.py            the 24 C++ sources that changed last
    deploy/compile_alone.py 500        as many
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "alone"


def configure():
    """A build folder that says how each file is compiled, with the protocol's headers."""
    subprocess.run(["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                    "-DGRIDFOLD_CUDA=OFF", "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON"],
                   check=True, stdout=subprocess.DEVNULL)
    targets = subprocess.run(["ninja", "-C", BUILD, "-t", "targets", "all"], check=True,
                             capture_output=True, text=True).stdout
    headers = re.findall(r"^([^/:][^:]*\.pb\.h):", targets, flags=re.MULTILINE)
    subprocess.run(["ninja", "-C", BUILD, *headers], check=True, stdout=subprocess.DEVNULL)


def changed_last(count, commands):
    """The sources, of those that are compiled, that the newest commits changed."""
    log = subprocess.run(["git", "log", "--no-renames", "--name-only", "--format="], cwd=ROOT,
                         check=True, capture_output=True, text=True).stdout
    sources = [name for name in dict.fromkeys(log.split("\n")) if str(ROOT / name) in commands]
    return sources[:count]


def compile_alone(entry):
    """What the compiler says of a file that it cannot compile; empty for others."""
    words = shlex.split(entry["command"])
    del words[words.index("-o"):words.index("-o") + 2]
    result = subprocess.run([*words, "-fsyntax-only"], cwd=entry["directory"],
                            capture_output=True, text=True)
    return result.stderr if result.returncode else ""


def main():
    configure()
    entries = json.loads((BUILD / "compile_commands.json").read_text())
    commands = {entry["file"]: entry for entry in entries}
    sources = changed_last(int(sys.argv[1]) if len(sys.argv) > 1 else 24, commands)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        errors = list(pool.map(lambda name: compile_alone(commands[str(ROOT / name)]), sources))
    for name, error in zip(sources, errors):
        if error:
            print(f"{name} does not compile by itself:\n{error}")
    print(f"by themselves: {len(sources)} files")
    return 1 if any(errors) or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
