#!/usr/bin/env python3
"""Draws what a server that stands still now and then does to its callers, and what a clock that
starts when a call is sent makes of it.

Starts a server, stops it with SIGSTOP for 200 ms every 2 s, calls it at a constant rate with one call
under way at a time, and writes the chart of percentiles of gridfold_load's HTML report as an SVG.
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
import server_process  # noqa: E402

PERIOD_SECONDS = 2.0
STALL_SECONDS = 0.2


def stall(process_id, is_over):
    while not is_over.wait(PERIOD_SECONDS - STALL_SECONDS):
        os.kill(process_id, signal.SIGSTOP)
        is_over.wait(STALL_SECONDS)
        os.kill(process_id, signal.SIGCONT)


def chart_of(page):
    """The first chart, with the page's style, as a file of its own."""
    style = re.search(r"<style>.*?</style>", page, re.S).group(0)
    chart = re.search(r"<svg viewBox.*?</svg>", page, re.S).group(0)
    opening = '<svg xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif"'
    # So that it can be read whatever the colour of the page around it.
    paper = '<rect width="100%" height="100%" fill="var(--paper)"/>'
    return chart.replace("<svg", opening, 1).replace(">", ">" + style + paper, 1) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True, help="the gridfold_server to run")
    parser.add_argument("--load", required=True, help="the gridfold_load to run")
    parser.add_argument("--output", required=True, type=pathlib.Path, help="the SVG to write")
    arguments = parser.parse_args()
    os.environ["GRIDFOLD_SERVER_BINARY"] = arguments.server
    with server_process.ServerProcess() as server, tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "report.html")
        is_over = threading.Event()
        thread = threading.Thread(target=stall, args=(server.process_id, is_over))
        thread.start()
        try:
            subprocess.run(
                [arguments.load, "--server", server.target, "--rate", "200", "--arrivals",
                 "constant", "--in-flight-max", "1", "--connections", "1", "--duration", "20s",
                 "--html", str(page)], check=True)
        finally:
            is_over.set()
            thread.join()
        arguments.output.write_text(chart_of(page.read_text()))


if __name__ == "__main__":
    main()
