"""The reference of the C++ library: Doxygen reads its public headers, and Breathe makes pages of what
it has found."""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

SETTINGS = '''
PROJECT_NAME = gridfold
INPUT = {headers}
FILE_PATTERNS = *.h
INPUT_FILTER = "{python} {filter}"
OUTPUT_DIRECTORY = {output}
STRIP_FROM_PATH = {parent}
GENERATE_XML = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
XML_PROGRAMLISTING = NO
EXTRACT_ALL = YES
QUIET = YES
WARN_AS_ERROR = {fail}
JAVADOC_AUTOBRIEF = NO
MULTILINE_CPP_IS_BRIEF = NO
AUTOLINK_SUPPORT = NO
SHOW_HEADERFILE = NO
'''


def run_doxygen(headers: pathlib.Path, output: pathlib.Path) -> pathlib.Path:
    """What Doxygen finds in a folder of headers, as XML in a folder that this returns. A warning of
    it is an error."""
    settings = SETTINGS.format(headers=headers, python=sys.executable, filter=HERE / 'cpp_comments.py',
                               output=output, parent=headers.parent, fail='FAIL_ON_WARNINGS')
    ran = subprocess.run(['doxygen', '-'], input=settings, text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, check=False)
    if ran.returncode != 0 or 'warning:' in ran.stdout:
        raise SystemExit(f'doxygen: {ran.stdout}')
    return output / 'xml'


def page(header: pathlib.Path) -> str:
    """A header's page, which begins with the first sentence of what the header is for."""
    if not header.read_text(encoding='utf-8').startswith('// '):
        raise SystemExit(f'{header} does not begin with a comment')
    return (f'# gridfold/{header.name}\n\n```{{eval-rst}}\n'
            f'.. doxygenfile:: gridfold/{header.name}\n   :project: gridfold\n```\n')


def write_pages(headers: pathlib.Path, folder: pathlib.Path) -> list[str]:
    """Pages of all headers in a folder; returns their names."""
    names = []
    for header in sorted(headers.glob('*.h')):
        (folder / f'{header.stem}.md').write_text(page(header), encoding='utf-8')
        names.append(header.stem)
    return names
