#!/usr/bin/env python3
"""Builds the documents as HTML: every Markdown file of the tree, and a reference made of the protocol
files, the manual pages, the public headers and the Python package.

  deploy/documents/build_html.py FOLDER
  deploy/documents/build_html.py --check      reads everything and follows all links; writes nothing

Sphinx, MyST, Furo, Doxygen and Breathe (Debian: python3-sphinx python3-myst-parser furo doxygen
python3-breathe) do it; a warning of theirs, or a link that leads nowhere, is an error. GRIDFOLD_SERVER_BINARY names a server, which answers the
examples, and GRIDFOLD_MANUAL the folder of manual pages that a build makes (`manual/share`).
`cmake --build BUILD --target documents` sets both.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import cpp_reference
import wire_examples
import wire_reference

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = pathlib.Path(__file__).resolve().parent
# Folders of a working tree that are not its sources.
NOT_SOURCES = {'build', 'node_modules', '.git', 'dist'}
# Code, in which nothing is a link; or a link.
INDEX = '<!doctype html><meta http-equiv="refresh" content="0; url=README.html"><title>gridfold</title>\n'
LINK = re.compile(r'(?P<code>(?P<ticks>`+).*?(?P=ticks))|'
                  r'(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^()\s]+)\)',
                  re.DOTALL)

CONTENTS = [
    ('Learn', ['docs/tutorial']),
    ('How to', ['client/python/README', 'docs/how_to/*', 'client/python/BEYOND_ONE_MACHINE',
                'client/load/README', 'deploy/README', 'deploy/sample_data/README',
                'docs/release_checklist']),
    ('Reference', ['docs/reference/command_line', 'client/command_line/INPUT', 'docs/reference/python',
                   'docs/reference/cpp', 'docs/reference/wire', 'server/METRICS',
                   'docs/how_to/troubleshooting', 'client/core/WORDS', 'SECURITY', 'CHANGELOG']),
    ('Understand', ['docs/explanation/*', 'ARCHITECTURE', 'kernels/README', 'kernels/numerics/*',
                    'kernels/docs/*']),
    ('Measure', ['**/BENCHMARKS', 'client/transport_benchmark/*']),
    ('Change', ['CONTRIBUTING', 'client/python/numpy_suite/FAILURES', 'kernels/docs/notebook/*']),
    ('Run books', ['deploy/monitoring/runbooks/*']),
    ('More', ['**/*']),  # What is listed nowhere else.
]


def sources() -> list[pathlib.Path]:
    """The Markdown files of the tree."""
    return sorted(path for path in ROOT.glob('**/*.md')
                  if not NOT_SOURCES & set(path.relative_to(ROOT).parts)
                  and not path.relative_to(ROOT).parts[0].startswith('.'))


class Stage:
    """A folder in which the documents lie as in the tree, with links that HTML can follow."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.broken: list[str] = []

    def add(self, document: pathlib.Path) -> None:
        place = self.folder / document.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(self.rewritten(document), encoding='utf-8')

    def rewritten(self, document: pathlib.Path) -> str:
        lines = []
        fenced = False
        paragraph: list[str] = []

        def end_paragraph():
            # Links may be broken across lines.
            if paragraph:
                text = '\n'.join(paragraph)
                lines.append(LINK.sub(lambda link: self.link(document, link), text))
                paragraph.clear()

        for line in document.read_text(encoding='utf-8').splitlines():
            if line.lstrip().startswith('```'):
                end_paragraph()
                fenced = not fenced
                # Pictures of Mermaid are drawn by programs of others; their text can be read.
                lines.append(line.replace('```mermaid', '```text'))
            elif fenced:
                lines.append(line)
            else:
                paragraph.append(line)
        end_paragraph()
        return '\n'.join(lines) + '\n'

    def link(self, document: pathlib.Path, link: re.Match) -> str:
        text, target = link['text'], link['target']
        if link['code'] or re.match(r'[a-z]+:|#', target):
            return link.group()
        path = target.partition('#')[0]
        found = (document.parent / path).resolve()
        if not found.exists():
            self.broken.append(f'{document.relative_to(ROOT)}: {target} is not there')
            return text
        if link['image']:
            place = self.folder / found.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(found, place)
            return link.group()
        if found.is_dir() and (found / 'README.md').exists():
            return f'[{text}]({path.rstrip("/")}/README.md)'
        if found == ROOT / 'docs' / 'README.md':
            return text
        # Sources are no pages: they are named, and are in the tree.
        return link.group() if found.suffix == '.md' else text

    def write(self, name: str, text: str) -> None:
        place = self.folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding='utf-8')

    def toctree(self, caption: str, patterns: list[str], placed: set[str]) -> str:
        names = []
        for pattern in patterns:
            found = sorted(str(path.relative_to(self.folder))[:-len('.md')]
                           for path in self.folder.glob(pattern + '.md'))
            if not found:
                raise SystemExit(f'build_html.py: there is no document {pattern}')
            # What other pages list is below them.
            names += [name for name in found if name not in placed
                      and not name.startswith('docs/reference/') or pattern == name]
            placed.update(found)
        if not names:
            return ''
        return f'```{{toctree}}\n:caption: {caption}\n:hidden:\n\n' + '\n'.join(names) + '\n```\n'


def toctree(names: list[str]) -> str:
    return '```{toctree}\n\n' + '\n'.join(names) + '\n```\n'


def add_wire_reference(stage: Stage, server: str) -> None:
    descriptors = wire_reference.read_descriptors(ROOT / 'proto')
    folder = stage.folder / 'docs' / 'reference' / 'wire_api'
    folder.mkdir(parents=True)
    names = wire_reference.write_pages(descriptors, wire_examples.make_examples(descriptors, server),
                                       folder)
    stage.write('docs/reference/wire.md',
                '# Wire API\n\nServices and messages of `gridfold.v1`, for gRPC in any language. The '
                'examples have been asked of a server: lines that begin with > are messages to it, in '
                'text form, and what follows is its answer, without `execution` and other values that '
                'differ from run to run.\n\n' + toctree([f'wire_api/{name}' for name in names]))


def add_command_line_reference(stage: Stage, manual: pathlib.Path) -> None:
    names = []
    for page in sorted(manual.glob('man/man*/*')):
        html = subprocess.run(['mandoc', '-T', 'html', '-O', 'fragment', page], check=True,
                              capture_output=True, text=True).stdout
        # The lines at the head and the foot of paper; headings below that of the page.
        html = re.sub(r'<table class="(head|foot)">.*?</table>', '', html, flags=re.DOTALL)
        html = re.sub(r'<(/?)h2\b', r'<\1h3', re.sub(r'<(/?)h1\b', r'<\1h2', html))
        html = re.sub(r'<a class="permalink" href="[^"]*">(.*?)</a>', r'\1', html, flags=re.DOTALL)
        stage.write(f'docs/reference/commands/{page.stem}.html', html)
        stage.write(f'docs/reference/commands/{page.stem}.md',
                    f'# {page.stem}\n\n```{{raw}} html\n:file: {page.stem}.html\n```\n')
        names.append(f'commands/{page.stem}')
    if not names:
        raise SystemExit(f'build_html.py: {manual} has no manual pages')
    stage.write('docs/reference/command_line.md',
                '# Command line\n\nThe manual pages of the programs, which `man` shows as well.\n\n' +
                toctree(names))


def add_cpp_reference(stage: Stage) -> None:
    headers = ROOT / 'client' / 'gridfold'
    folder = stage.folder / 'docs' / 'reference' / 'headers'
    folder.mkdir(parents=True)
    cpp_reference.run_doxygen(headers, stage.folder / 'doxygen')
    names = cpp_reference.write_pages(headers, folder)
    stage.write('docs/reference/cpp.md',
                '# C++\n\nThe headers of the client library, `find_package(gridfold)`. All that they '
                'declare is in the namespace `gridfold::client`. Begin with '
                '{doc}`client.h <headers/client>`.\n\n' +
                toctree([f'headers/{name}' for name in names]))


def add_python_reference(stage: Stage) -> None:
    modules = ['gridfold', 'gridfold.aio', 'gridfold.dask', 'gridfold.mpi']
    stage.write('docs/reference/python.md', '# Python\n\n' + ''.join(
        f'## {module}\n\n```{{eval-rst}}\n.. automodule:: {module}\n   :members:\n   :inherited-members: '
        'object, tuple, BaseException, Exception\n   :imported-members:\n```\n\n' for module in modules))


def run_sphinx(source: pathlib.Path, builder: str, output: pathlib.Path) -> None:
    subprocess.run([sys.executable, '-m', 'sphinx', '-b', builder, '-W', '--keep-going', '-q', '-j',
                    'auto', source, output], check=True, env={**os.environ, 'GRIDFOLD_ROOT': str(ROOT)})


def build(output: pathlib.Path | None) -> None:
    """Builds the pages in a folder, or checks that they can be built."""
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(pathlib.Path(folder))
        for document in sources():
            stage.add(document)
        add_command_line_reference(stage, pathlib.Path(os.environ['GRIDFOLD_MANUAL']))
        add_cpp_reference(stage)
        add_python_reference(stage)
        add_wire_reference(stage, os.environ['GRIDFOLD_SERVER_BINARY'])
        if stage.broken:
            raise SystemExit('\n'.join(stage.broken))
        placed = {'README', 'docs/README'}
        trees = '\n'.join(stage.toctree(caption, patterns, placed) for caption, patterns in CONTENTS)
        with (stage.folder / 'README.md').open('a', encoding='utf-8') as readme:
            readme.write('\n' + trees)
        # The list of documents is the contents, which are beside every page.
        (stage.folder / 'docs' / 'README.md').unlink()
        for name in ('conf.py', 'documents.css'):
            shutil.copyfile(HERE / name, stage.folder / name)
        if output is None:
            run_sphinx(stage.folder, 'dummy', stage.folder / 'output')
            return
        shutil.rmtree(output, ignore_errors=True)
        run_sphinx(stage.folder, 'html', output)
    shutil.rmtree(output / '.doctrees', ignore_errors=True)
    (output / 'index.html').write_text(INDEX, encoding='utf-8')


if __name__ == '__main__':
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    build(None if sys.argv[1] == '--check' else pathlib.Path(sys.argv[1]).resolve())
