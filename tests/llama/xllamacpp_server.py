"""Stands for the program `llama-server` where only the Python package xllamacpp is there: it takes the few options that the test gives."""

from __future__ import annotations

import argparse
import signal
from importlib import import_module
from typing import Any, cast


def main() -> None:
    """Serves until it is ended."""
    options = argparse.ArgumentParser()
    options.add_argument("-m", dest="model", required=True)
    options.add_argument("-c", dest="window", type=int, required=True)
    options.add_argument("--port", type=int, required=True)
    options.add_argument("--host", required=True)
    options.add_argument("--jinja", action="store_true")
    options.add_argument("-np", type=int)
    chosen = options.parse_args()
    library = cast("Any", import_module("xllamacpp"))
    parameters = library.CommonParams()
    parameters.model.path, parameters.n_ctx, parameters.port = chosen.model, chosen.window, chosen.port
    parameters.hostnames, parameters.n_parallel, parameters.use_jinja, parameters.warmup = [chosen.host], 1, True, False
    server = library.Server(parameters)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    del server


if __name__ == "__main__":
    main()
