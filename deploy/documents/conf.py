"""How Sphinx makes HTML of the documents: build_html.py calls it."""
import os
import pathlib
import sys

root = pathlib.Path(os.environ['GRIDFOLD_ROOT'])
sys.path.insert(0, str(root / 'client' / 'python' / 'src'))
sys.dont_write_bytecode = True

project = 'gridfold'
root_doc = 'README'
extensions = ['myst_parser', 'sphinx.ext.autodoc', 'sphinx.ext.napoleon', 'breathe']
exclude_patterns = ['**/*.html', 'doxygen']
breathe_projects = {'gridfold': 'doxygen/xml'}
breathe_default_members = ('members', 'undoc-members')
html_theme = 'furo'
html_title = 'gridfold'
html_static_path = ['documents.css']
html_css_files = ['documents.css']
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
pygments_style = 'friendly'
pygments_dark_style = 'native'
myst_heading_anchors = 4
# Commands are shown with their prompts, and output below them.
highlight_language = 'text'
# The package is described, and not run: its native parts may not have been built.
autodoc_mock_imports = ['gridfold._native', 'gridfold._core', 'mpi4py', 'dask', 'distributed']
autodoc_typehints = 'description'
napoleon_google_docstring = False
