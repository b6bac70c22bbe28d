"""Asks the parsers of a Python engine: `engines.py vllm|sglang`, a question and an answer a line, both JSON.

A question names a parser, the tools, the pieces of the text, and whether they come one by one. The answer has the calls, an error,
or neither where the engine has no such parser.
"""

import json
import os
import signal
import sys

SECONDS = 10  # that a parser may take for one text
# Parsers that learn their marks from the model's tokenizer, which is not there.
BOUND = {"vllm": {"hy_v3", "hy_v4", "mistral"}, "sglang": {"hunyuan"}}


class Vocabulary(dict):
    """Knows every token that it is asked for."""

    def __missing__(self, token):
        self[token] = len(self) + 1
        return self[token]

    def __contains__(self, token):
        return True

    def get(self, token, default=None):
        return self[token]


class Tokenizer:
    """Stands in for the model's own: a piece of the text is a token, and so is a mark."""

    all_special_tokens = all_special_ids = ()
    eos_token_id = bos_token_id = 0

    def __init__(self):
        self.vocabulary = Vocabulary()

    def get_vocab(self):
        return self.vocabulary

    def encode(self, text, **_):
        return [self.vocabulary[text]]

    def decode(self, ids, **_):
        tokens = {number: token for token, number in self.vocabulary.items()}
        return "".join(tokens.get(number, "") for number in ([ids] if isinstance(ids, int) else ids))


def joined(parts):
    """Calls from their parts: index, name and arguments."""
    calls = {}
    for index, name, arguments in parts:
        call = calls.setdefault(index, {"name": "", "arguments": ""})
        call["name"] = call["name"] or name or ""
        call["arguments"] += arguments or ""
    return [call for _, call in sorted(calls.items()) if call["name"]]


def vllm():
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.tool_parsers import ToolParserManager

    def read(name, pieces, tools, stream):
        try:
            parser = ToolParserManager.get_tool_parser(name)
        except KeyError:
            return None
        request = ChatCompletionRequest(model="", messages=[], tools=tools or None, tool_choice="auto" if tools else None)
        tokenizer = Tokenizer()
        parser = parser(tokenizer, request.tools)
        if not stream:
            calls = parser.extract_tool_calls("".join(pieces), request).tool_calls
            return joined((at, c.function.name, c.function.arguments) for at, c in enumerate(calls))
        deltas, seen, ids = [], "", []
        for piece in pieces:
            now = tokenizer.encode(piece)
            deltas.append(
                parser.extract_tool_calls_streaming(seen, seen + piece, piece, ids, ids + now, now, request)
            )
            seen, ids = seen + piece, ids + now
        if hasattr(parser, "finish_streaming"):
            deltas.append(parser.finish_streaming())
        parts = [part for delta in deltas if delta for part in delta.tool_calls or [] if part.function]
        return joined((part.index, part.function.name, part.function.arguments) for part in parts)

    return read


def sglang():
    os.environ["SGLANG_FORWARD_UNKNOWN_TOOLS"] = "1"  # as Del does
    from sglang.srt.entrypoints.openai.protocol import Tool
    from sglang.srt.function_call.function_call_parser import FunctionCallParser

    def read(name, pieces, tools, stream):
        parser = FunctionCallParser.ToolCallParserEnum.get(name)
        if parser is None:
            return None
        parser, tools = parser(), [Tool(**tool) for tool in tools]
        if not stream:
            calls = parser.detect_and_parse("".join(pieces), tools).calls
            return joined((at, call.name, call.parameters) for at, call in enumerate(calls))
        parts = [part for piece in pieces for part in parser.parse_streaming_increment(piece, tools).calls]
        return joined((part.tool_index, part.name, part.parameters) for part in parts)

    return read


def expire(*_):
    raise TimeoutError(f"took more than {SECONDS} s")


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what an engine prints is no answer
    engine = sys.argv[1]
    read = {"vllm": vllm, "sglang": sglang}[engine]()
    signal.signal(signal.SIGALRM, expire)
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        question = json.loads(line)
        signal.alarm(SECONDS)
        try:
            asked = question["parser"], question["pieces"], question["tools"], question["stream"]
            answer = {"calls": None if question["parser"] in BOUND[engine] else read(*asked)}
        except NotImplementedError:  # it reads tokens alone
            answer = {"calls": None}
        except Exception as error:  # whatever a parser raises is its answer
            answer = {"error": repr(error)}
        finally:
            signal.alarm(0)
        print(json.dumps(answer), file=answers, flush=True)


main()
