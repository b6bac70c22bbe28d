import os
from pathlib import Path


class Parser:
    """Reads text. push is mentioned here."""

    def __init__(self, path):
        self.path = path  # TODO: check

    def push(self, text, strict=False):
        if strict and not text:
            raise ValueError("push needs text")
        for line in text.splitlines():
            if line:
                self._keep(line)

    def _keep(self, line):
        return line


def main():
    parser = Parser("a")
    parser.push("b")
