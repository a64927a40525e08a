"""What the Dockerfile says of the image that it makes: the instructions of its last stage."""

import json
import pathlib
import re

TEXT = (pathlib.Path(__file__).resolve().parent.parent / "Dockerfile").read_text(encoding="utf-8")


def _instruction(name: str) -> str:
    stage = re.split(r"^FROM .*\n", TEXT.replace("\\\n", " "), flags=re.MULTILINE)[-1]
    argument, = re.findall(rf"^{name} (.*)$", stage, flags=re.MULTILINE)
    return argument


def user() -> tuple[int, int]:
    """User and group, by number."""
    uid, gid = _instruction("USER").split(":")
    return int(uid), int(gid)


def ports() -> set[int]:
    return {int(port) for port in _instruction("EXPOSE").split()}


def health_check() -> list[str]:
    """The command and its arguments."""
    return json.loads(_instruction("HEALTHCHECK").split(" CMD ")[1])


def version() -> str:
    return re.search(r'image\.version="([^"]*)"', _instruction("LABEL"))[1]
