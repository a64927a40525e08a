#!/usr/bin/env python3
"""A C++ header with the comments of its declarations as Doxygen knows them: Doxygen's input filter.

  cpp_comments.py HEADER

The tree's headers say everything in plain comments: before a declaration, or behind it on its line.
Comments in the bodies of functions stay what they are. The namespace goes, which is the same in all
headers: so a header's page has what is declared in it.
"""
import pathlib
import re
import sys

COMMENT = re.compile(r'(?P<indent>\s*)//(?!/) ?(?P<text>.*)')
TRAILING = re.compile(r'(?P<code>\s*[^\s/}#].*?)(?P<space>\s+)// (?P<text>.*)')
# A function's begin, or a statement's: not that of a class, an enumeration or an initial value.
BODY = re.compile(r'\).*\{$')
NAMESPACE = re.compile(r'namespace gridfold::client \{|\}  // namespace gridfold::client')
CODE_INDENT = '  '  # Of an example in a comment.


def escape(text: str) -> str:
    """Text in which Doxygen finds no commands, but names in backquotes as they are."""
    parts = re.split(r'(`[^`]*`)', text)
    return ''.join(part if part.startswith('`') else re.sub(r'([\\@<>#&])', r'\\\1', part)
                   for part in parts)


def depth(line: str) -> int:
    code = re.sub(r'"(\\.|[^"])*"|//.*', '', line)
    return code.count('{') - code.count('}')


class Filter:
    def __init__(self):
        self.lines: list[str] = []
        self.in_example = False
        self.in_comment = False
        self.body_depth = 0  # Open braces of the function that a line is in.
        self.trailing_column = -1  # Where a comment behind a declaration began, on the line before.

    def end_example(self, indent: str) -> None:
        if self.in_example:
            self.lines.append(f'{indent}/// @endcode')
            self.in_example = False

    def add_comment(self, indent: str, text: str) -> None:
        is_example = text.startswith(CODE_INDENT)
        if is_example and not self.in_example:
            self.lines.append(f'{indent}/// @code{{.cpp}}')
            self.in_example = True
        if not is_example and text:
            self.end_example(indent)
        self.lines.append(f'{indent}/// {text if self.in_example else escape(text)}')
        self.in_comment = True

    def add(self, line: str) -> None:
        comment = COMMENT.fullmatch(line)
        if self.body_depth > 0:
            self.body_depth += depth(line)
            self.lines.append(line)
        elif comment and len(comment['indent']) == self.trailing_column:
            self.lines.append(f"{comment['indent']}///< {escape(comment['text'])}")
        elif comment:
            self.add_comment(comment['indent'], comment['text'])
        else:
            self.add_code(line)

    def add_code(self, line: str) -> None:
        self.end_example('')
        if NAMESPACE.fullmatch(line):
            line = ''
        self.in_comment = False
        trailing = TRAILING.fullmatch(line)
        self.trailing_column = -1
        if trailing:
            self.trailing_column = len(trailing['code'] + trailing['space'])
            line = f"{trailing['code']}{trailing['space']}///< {escape(trailing['text'])}"
        elif BODY.search(line):
            self.body_depth = depth(line)
        self.lines.append(line)


def filtered(header: str) -> str:
    """The first comment is of the file, where no declaration follows it at once."""
    result = Filter()
    result.lines.append('/// @file')
    for line in header.splitlines():
        result.add(line)
    return '\n'.join(result.lines) + '\n'


if __name__ == '__main__':
    sys.stdout.write(filtered(pathlib.Path(sys.argv[1]).read_text(encoding='utf-8')))
