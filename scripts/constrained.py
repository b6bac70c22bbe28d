"""Ask a llama.cpp server for calls under the grammars of some dialects, and count those that `del parse` reads."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

TOOLS = [
    {
        "name": "get_weather",
        "description": "Get the weather of a city",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "enum": ["Paris", "São Paulo", "東京", "New York"]},
                "days": {"type": "integer", "minimum": 1, "maximum": 14},
            },
            "required": ["city"],
        },
    },
    {
        "name": "set_timer",
        "description": "Set a timer",
        "parameters": {
            "type": "object",
            "properties": {
                "minutes": {"type": "integer", "minimum": 1, "maximum": 90},
                "label": {"type": "string", "pattern": "^[a-z]{1,8}$"},
            },
            "required": ["minutes", "label"],
        },
    },
]

PROMPTS = [
    "What is the weather like in Paris this week?",
    "Set a timer for ten minutes, I am cooking rice.",
    "Will it rain in Tokyo tomorrow?",
    "Wake me in an hour.",
    "How warm is it in New York, in kelvin?",
]


def main():
    options = parse_options()
    wanted = {tool["name"]: set(tool["parameters"]["required"]) for tool in TOOLS}
    short = 0
    with tempfile.TemporaryDirectory() as folder:
        tools = pathlib.Path(folder, "tools.json")
        tools.write_text(json.dumps(TOOLS), encoding="utf-8")
        for dialect in options.dialects:
            grammar = run(options.program, "grammar", "--dialect", dialect, "--tools", tools, "--choice", "required",
                          "--no-parallel")
            start = time.monotonic()
            lines = [
                json.dumps({"id": seed, "text": ask(options.server, grammar, PROMPTS[seed % len(PROMPTS)], seed)})
                for seed in range(options.answers)
            ]
            took = time.monotonic() - start
            parsed = run(options.program, "parse", "--dialect", dialect, "--tools", tools, "--jsonl",
                         input="\n".join(lines) + "\n")
            good = 0
            for line, answer in zip(lines, parsed.splitlines(), strict=True):
                if is_right(json.loads(answer), wanted):
                    good += 1
                else:
                    print(f"{line}\n{answer}", file=sys.stderr)
            short += options.answers - good
            print(f"{dialect}: {good} of {options.answers} in {took:.0f} s, such as {json.loads(lines[0])['text']!r}",
                  flush=True)
    sys.exit(short > 0)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dialects", nargs="+", metavar="DIALECT")
    parser.add_argument("--del", dest="program", required=True, help="the program")
    parser.add_argument("--server", required=True, help="address of the server")
    parser.add_argument("--answers", type=int, default=50)
    return parser.parse_args()


def run(*command, input=None):
    done = subprocess.run(command, input=input, check=True, capture_output=True, encoding="utf-8")
    return done.stdout


def ask(server, grammar, prompt, seed):
    """One answer. Nothing but the grammar tells the model of the tools."""
    body = {
        "messages": [{"role": "user", "content": prompt}],
        "grammar": grammar,
        "max_tokens": 192,
        "temperature": 1.2,
        "seed": seed,
    }
    request = urllib.request.Request(
        f"{server}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


def is_right(answer, wanted):
    """One whole call of a known tool, with the arguments that it needs, and nothing else."""
    calls = answer.get("tool_calls") or []
    if len(calls) != 1 or answer["faults"] or answer["content"]:
        return False
    function = calls[0]["function"]
    return wanted.get(function["name"], {""}) <= set(json.loads(function["arguments"]))


if __name__ == "__main__":
    main()
