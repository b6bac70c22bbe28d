"""Serve one GGUF model over llama.cpp's HTTP API on loopback, until SIGTERM.

Writes the server's address to a file once it accepts requests. Unless told to
stay, it also ends when the process that started it is gone.
"""

import argparse
import os
import pathlib
import signal
import time

import xllamacpp

STOP_SIGNALS = {signal.SIGTERM, signal.SIGINT}


def main():
    options = parse_options()
    # Blocked before the server starts its threads, which inherit the mask:
    # the signal then waits for this thread, whichever thread it hits.
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    parent = os.getppid()
    server = xllamacpp.Server(parameters(options))
    announce(server.listening_address, options.address_file)
    # Looked at, not waited for: `sigtimedwait` of CPython says that a signal came when the process was only suspended.
    while not STOP_SIGNALS & signal.sigpending():
        if not options.stay and os.getppid() != parent:
            break
        time.sleep(0.1)
    # Taking the server down properly can hang while a request is open.
    os._exit(0)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=pathlib.Path, help="GGUF file")
    parser.add_argument("--address-file", type=pathlib.Path, required=True, help="where to write the server's address")
    parser.add_argument("--alias", required=True, help="name of the model in the API")
    parser.add_argument("--context", type=int, default=8192, help="tokens (default: %(default)s)")
    parser.add_argument("--port", type=int, default=0, help="default: a free one")
    parser.add_argument("--stay", action="store_true", help="outlive the process that started the server")
    return parser.parse_args()


def parameters(options):
    params = xllamacpp.CommonParams()
    params.model.path = str(options.model)
    params.model_alias = {options.alias}
    params.hostnames = ["127.0.0.1"]
    params.port = options.port
    # No page of some other site may use the server through the browser.
    params.cors_origins = "http://127.0.0.1"
    # One slot has the whole context; no prompts are kept aside in memory.
    params.n_ctx = options.context
    params.n_parallel = 1
    params.cache_ram_mib = 0
    # The same question gets the same answer, unless a request says otherwise.
    params.sampling.temp = 0
    params.sampling.seed = 1
    return params


def announce(address, file):
    """Write the address so that a reader sees all of it or no file."""
    draft = file.with_suffix(".draft")
    draft.write_text(address + "\n")
    draft.replace(file)


if __name__ == "__main__":
    main()
