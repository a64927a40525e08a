"""Commands that documents show: lines after a prompt in fenced blocks marked `console`."""
import pathlib
import re
from typing import NamedTuple


class Command(NamedTuple):
    document: str
    line: int
    text: str
    output: tuple[str, ...]  # The lines that are shown below it.


PROMPT = re.compile(r'^(?:[a-z-]+)?\$ (.*)$')


def commands_of(document: str, text: str) -> list[Command]:
    """The commands of a document in their order, each with the output that is shown of it."""
    commands: list[Command] = []
    inside = False
    goes_on = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith('```'):
            inside = line.strip() == '```console'
            goes_on = False
            continue
        prompt = PROMPT.match(line) if inside else None
        if prompt:
            commands.append(Command(document, number, prompt.group(1), ()))
        elif inside and commands and goes_on:
            commands[-1] = commands[-1]._replace(text=f'{commands[-1].text}\n{line}')
        elif inside and commands and line.strip() and not line.strip().startswith('#'):
            commands[-1] = commands[-1]._replace(output=(*commands[-1].output, line))
        else:
            continue
        goes_on = line.endswith('\\')
    return commands


def commands_of_tree(root: pathlib.Path, documents: list[str]) -> list[Command]:
    return [command for name in documents
            for command in commands_of(name, (root / name).read_text(encoding='utf-8'))]


def shows(expected: tuple[str, ...], output: str) -> bool:
    """Whether an output is what a document shows: an ellipsis stands for anything, and so does
    any white space for any other."""
    pattern = r'\s+'.join(
        '.*?'.join(re.escape(part) for part in word.split('…'))
        for line in expected for word in line.split())
    return re.search(pattern, output, re.DOTALL) is not None
