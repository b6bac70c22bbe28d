"""A conversation with one tool through a proxy, with the Python client of the OpenAI API: at once, and streamed.

Prints what happens, and fails when a call, its result or the answer is not what it should be.
"""

import argparse
import json
import sys

import openai

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Get the weather of a city.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string", "description": "The city's name."}},
                "required": ["city"],
            },
        },
    }
]
QUESTION = "What is the weather in Paris?"
RESULT = "sunny, 21 degrees"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base_url")
    parser.add_argument("model")
    options = parser.parse_args()
    client = openai.OpenAI(base_url=options.base_url, api_key="none", max_retries=0, timeout=300)
    names = [model.id for model in client.models.list()]
    check(options.model in names, f"{options.model} is served, got {names}")
    for ask in (at_once, streamed):
        converse(ask, client, options.model)


def converse(ask, client, model):
    """One question, the call that it takes, and the answer."""
    print(f"--- {ask.__name__.replace('_', ' ')}")
    messages = [{"role": "user", "content": QUESTION}]
    message, reason = ask(client, model=model, messages=messages, tools=TOOLS)
    calls = message.get("tool_calls") or []
    check(len(calls) == 1 and reason == "tool_calls", f"one call, got {reason}: {message}")
    function = calls[0]["function"]
    print("call:  ", function["name"], function["arguments"])
    check(function["name"] == "get_weather", "a call of get_weather")
    check(json.loads(function["arguments"]) == {"city": "Paris"}, "the city of the question")
    messages += [message, {"role": "tool", "tool_call_id": calls[0]["id"], "content": RESULT}]
    message, reason = ask(client, model=model, messages=messages, tools=TOOLS)
    print("answer:", message["content"])
    check(reason == "stop" and not message.get("tool_calls"), f"an answer, got {reason}: {message}")
    check("21" in message["content"], "the result in the answer")


def at_once(client, **request):
    completion = client.chat.completions.create(**request)
    choice = completion.choices[0]
    check(completion.usage.total_tokens > 0, "the usage")
    return choice.message.model_dump(exclude_none=True), choice.finish_reason


def streamed(client, **request):
    """The pieces of a stream, put together by the client's own hands."""
    pieces = 0
    with client.chat.completions.stream(**request, stream_options={"include_usage": True}) as stream:
        for event in stream:
            pieces += event.type in ("content.delta", "tool_calls.function.arguments.delta")
        completion = stream.get_final_completion()
    check(pieces > 1, f"more than one piece, got {pieces}")
    check(completion.usage is not None, "the usage")
    choice = completion.choices[0]
    message = {"role": "assistant", "content": choice.message.content or ""}
    if choice.message.tool_calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function",
             "function": {"name": call.function.name, "arguments": call.function.arguments}}
            for call in choice.message.tool_calls
        ]
    return message, choice.finish_reason


def check(holds, expected):
    if not holds:
        sys.exit(f"expected {expected}")


if __name__ == "__main__":
    main()
