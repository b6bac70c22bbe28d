"""Del in SGLang: `--tool-call-parser del --reasoning-parser del`.

SGLang calls `register` when it starts, in each of its processes. `del` reads all dialects at once; `del-NAME`, such as
`del-qwen3-coder`, reads one. It is tested with SGLang 0.5.21 to 0.5.23.
"""

from .._engine import names


def register() -> None:
    """Makes the detectors known, and with it their names as choices of the command line."""
    from sglang.srt.function_call.function_call_parser import FunctionCallParser
    from sglang.srt.parser.reasoning_parser import ReasoningParser

    from .reasoning import DelReasoningDetector
    from .tools import DelDetector

    for name, dialect in names().items():
        values = {"dialect": dialect, "__module__": __name__}
        FunctionCallParser.ToolCallParserEnum[name] = type("DelDetector", (DelDetector,), values)
        ReasoningParser.DetectorMap[name] = type("DelReasoningDetector", (DelReasoningDetector,), values)
