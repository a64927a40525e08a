#!/usr/bin/env python3
"""The documents can be made into HTML without a warning, their links lead somewhere, and a link that
does not is found.

GRIDFOLD_SERVER_BINARY and GRIDFOLD_MANUAL are those of build_html.py.
"""
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
SKIPPED = 77
NEEDED = {'sphinx': 'python3-sphinx', 'myst_parser': 'python3-myst-parser', 'furo': 'furo',
          'breathe': 'python3-breathe',
          'grpc': 'python3-grpcio', 'google.protobuf': 'python3-protobuf'}


class LinkTest(unittest.TestCase):
    def rewrite(self, text: str):
        """The text as it is staged, and what is broken in it."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder, 'tree')
            (root / 'server').mkdir(parents=True)
            (root / 'client').mkdir()
            for name in ('a.md', 'b.md', 'client/README.md', 'main.cc', 'picture.svg'):
                (root / name).touch()
            (root / 'a.md').write_text(text, encoding='utf-8')
            with mock.patch('build_html.ROOT', root):
                stage = build_html.Stage(pathlib.Path(folder, 'stage'))
                stage.add(root / 'a.md')
                pictures = list(stage.folder.glob('*.svg'))
            return (stage.folder / 'a.md').read_text(encoding='utf-8'), stage.broken, pictures

    def test_documents_and_pictures_stay_and_sources_are_named(self):
        text, broken, pictures = self.rewrite(
            '[b](b.md#x) [`main`](main.cc) [the\nclient](client) [server](server) ![p](picture.svg)\n'
            '[web](https://example.org/x) [here](#there) `[code](no.md)`\n'
            '```mermaid\n[fence](no.md)\n```\n')
        self.assertEqual(text, '[b](b.md#x) `main` [the\nclient](client/README.md) server '
                               '![p](picture.svg)\n[web](https://example.org/x) [here](#there) '
                               '`[code](no.md)`\n```text\n[fence](no.md)\n```\n')
        self.assertEqual(broken, [])
        self.assertEqual(len(pictures), 1)

    def test_what_is_not_there_is_broken(self):
        _, broken, _ = self.rewrite('[c](c.md) [d](../outside.md#y)\n')
        self.assertEqual(broken, ['a.md: c.md is not there', 'a.md: ../outside.md#y is not there'])


class CppTest(unittest.TestCase):
    def test_comments_before_and_behind_declarations_are_of_them(self):
        header = ('// Of the file.\n//\n//   Call(x);\n#define A\nnamespace gridfold::client {\n'
                  '// Of A<int> and `B<C>`.\nstruct A {\n  int a;  // Of a,\n          // at length.\n'
                  '  // Of F.\n  int F() const {\n    // Why.\n    return 1;  // Is it.\n  }\n};\n')
        self.assertEqual(cpp_comments.filtered(header), (
            '/// @file\n/// Of the file.\n/// \n/// @code{.cpp}\n///   Call(x);\n/// @endcode\n#define A\n\n'
            '/// Of A\\<int\\> and `B<C>`.\nstruct A {\n  int a;  ///< Of a,\n          ///< at length.\n'
            '  /// Of F.\n  int F() const {\n    // Why.\n    return 1;  // Is it.\n  }\n};\n'))

    def test_a_warning_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            headers = pathlib.Path(folder, 'gridfold')
            headers.mkdir()
            (headers / 'a.h').write_text('// A file.\n\n/// @param y No such parameter.\nint F(int x);\n',
                                         encoding='utf-8')
            with self.assertRaisesRegex(SystemExit, 'argument .y.'):
                cpp_reference.run_doxygen(headers, pathlib.Path(folder, 'out'))


class WireTest(unittest.TestCase):
    def test_every_example_is_of_a_method(self):
        descriptors = wire_reference.read_descriptors(build_html.ROOT / 'proto')
        methods = {f'{service.name}/{method.name}' for file in descriptors.file
                   for service in file.service for method in service.method}
        self.assertLessEqual({name for name, _ in wire_examples.CALLS}, methods)


class CheckTest(unittest.TestCase):
    def test_documents_have_no_warnings(self):
        checked = subprocess.run([sys.executable, HERE / 'build_html.py', '--check'], check=False,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 timeout=250)
        self.assertEqual(checked.returncode, 0, checked.stdout)


if __name__ == '__main__':
    missing = [] if shutil.which('doxygen') else ['doxygen']
    missing += [package for module, package in NEEDED.items()
               if importlib.util.find_spec(module.split('.')[0]) is None]
    if missing:
        print('needs', *missing)
        sys.exit(SKIPPED)
    import build_html
    import cpp_comments
    import cpp_reference
    import wire_examples
    import wire_reference
    unittest.main()
