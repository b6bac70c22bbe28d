"""LMDeploy's command line, with Del's parsers."""

from lmdeploy.cli import run

from . import register

register()
run()
