"""One question, the call that it takes, its result and the answer, with the Python client of each API, in front of
`scripted.py`: at once and streamed, for a model that calls by the API, one whose calls leak, and one that takes no tools.
"""

import argparse
import asyncio
import inspect
import json
import pathlib
import sys
import tomllib

import anthropic
import ollama
import openai

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "The city's name."}},
    "required": ["city"],
}
ABOUT = "Get the weather of a city."
QUESTION = "What is the weather in Paris?"
RESULT = "sunny, 21 degrees"
CITY = {"city": "Paris"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base_url", help="the proxy's, ending in /v1")
    parser.add_argument("--all-cuts", action="store_true", help="cut the answers of each dialect in many ways, not in one")
    options = parser.parse_args()
    base = options.base_url
    root = base.removesuffix("/v1")
    chat = openai.OpenAI(base_url=base, api_key="none", max_retries=0)
    messages = anthropic.Anthropic(base_url=root, api_key="none", max_retries=0)
    local = ollama.Client(host=root)
    lines = 0
    clients = {
        "": (chat, messages, local),
        "async ": tuple(map(Awaited, (
            openai.AsyncOpenAI(base_url=base, api_key="none", max_retries=0),
            anthropic.AsyncAnthropic(base_url=root, api_key="none", max_retries=0),
            ollama.AsyncClient(host=root),
        ))),
    }
    for model in ("native", "leaked", "prompt"):
        for kind, (chats, claudes, llamas) in clients.items():
            for converse, client, ways in (
                (completions, chats, ("at once", "streamed", "in chunks")), (responses, chats, WAYS),
                (remembered, chats, WAYS), (claude, claudes, WAYS), (llama, llamas, WAYS),
            ):
                for way in ways:
                    print(f"{kind}{converse.__name__} {model} {way}")
                    converse(client, model, way if way == "in chunks" else way == "streamed")
                    lines += 1
    others(chat, messages, local)
    count = cuts(chat, messages, local, options.all_cuts)
    print(f"{count} answers of {len(dialects())} dialects are the same streamed and at once")
    print(f"{lines} conversations")


WAYS = ("at once", "streamed")


class Awaited:
    """An asynchronous client, or what it gives, as a synchronous one."""

    loop = asyncio.new_event_loop()

    def __init__(self, given):
        self.given = given

    @classmethod
    def of(cls, given):
        if inspect.isawaitable(given):
            given = cls.loop.run_until_complete(given)
        kind = type(given)
        is_async = any(hasattr(given, name) for name in ("__aiter__", "__aenter__")) or "Async" in kind.__name__
        return cls(given) if is_async or inspect.ismethod(given) or inspect.isfunction(given) else given

    def __getattr__(self, name):
        return self.of(getattr(self.given, name))

    def __call__(self, *values, **named):
        return self.of(self.given(*values, **named))

    def __enter__(self):
        return self.of(self.given.__aenter__())

    def __exit__(self, *error):
        self.of(self.given.__aexit__(*error))

    def __iter__(self):
        given, over = aiter(self.given), object()
        while (following := self.of(anext(given, over))) is not over:
            yield following


def completions(client, model, streamed):
    tools = [{"type": "function", "function": {"name": "get_weather", "description": ABOUT, "parameters": SCHEMA}}]
    said = [{"role": "user", "content": QUESTION}]

    def ask():
        if not streamed:
            return client.chat.completions.create(model=model, messages=said, tools=tools).choices[0]
        if streamed == "in chunks":
            return assembled(client.chat.completions.create(model=model, messages=said, tools=tools, stream=True))
        with client.chat.completions.stream(model=model, messages=said, tools=tools) as stream:
            return stream.get_final_completion().choices[0]

    choice = ask()
    call = choice.message.tool_calls[0]
    check(choice.finish_reason, "tool_calls")
    check((call.function.name, call.function.arguments.replace(" ", "")), ("get_weather", '{"city":"Paris"}'))
    arguments = {"name": call.function.name, "arguments": call.function.arguments}
    said += [
        {"role": "assistant", "content": choice.message.content,
         "tool_calls": [{"id": call.id, "type": "function", "function": arguments}]},
        {"role": "tool", "tool_call_id": call.id, "content": RESULT},
    ]
    choice = ask()
    check((choice.finish_reason, "21" in choice.message.content), ("stop", True))


def assembled(chunks):
    """What the chunks of a choice amount to."""
    text, calls, reason = "", [], None
    for choice in (choice for chunk in chunks for choice in chunk.choices):
        text += choice.delta.content or ""
        for call in choice.delta.tool_calls or []:
            if call.index == len(calls):
                calls.append(call)
            else:
                calls[call.index].function.arguments += call.function.arguments
        reason = choice.finish_reason or reason
    message = openai.types.chat.ChatCompletionMessage.construct(content=text or None, tool_calls=calls)
    return openai.types.chat.chat_completion.Choice.construct(message=message, finish_reason=reason)


def ask_response(client, streamed, **request):
    if not streamed:
        return client.responses.create(**request)
    with client.responses.stream(**request) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    check((kinds[0], kinds[-1]), ("response.created", "response.completed"))
    return final


def called(response):
    calls = [item for item in response.output if item.type == "function_call"]
    check([(call.name, call.arguments.replace(" ", "")) for call in calls], [("get_weather", '{"city":"Paris"}')])
    return calls[0]


RESPONSE_TOOLS = [{"type": "function", "name": "get_weather", "description": ABOUT, "parameters": SCHEMA}]


def responses(client, model, streamed):
    items = [{"role": "user", "content": QUESTION}]
    request = {"model": model, "input": items, "tools": RESPONSE_TOOLS, "instructions": "Be brief."}
    response = ask_response(client, streamed, **request)
    call = called(response)
    items += [item.model_dump(exclude_none=True) for item in response.output]
    items.append({"type": "function_call_output", "call_id": call.call_id, "output": RESULT})
    response = ask_response(client, streamed, **request)
    check(("21" in response.output_text, response.status, response.usage.input_tokens), (True, "completed", 11))


def remembered(client, model, streamed):
    request = {"model": model, "tools": RESPONSE_TOOLS}
    response = ask_response(client, streamed, input=QUESTION, **request)
    output = [{"type": "function_call_output", "call_id": called(response).call_id, "output": RESULT}]
    response = ask_response(client, streamed, input=output, previous_response_id=response.id, **request)
    check("21" in response.output_text, True)


def claude(client, model, streamed):
    tools = [{"name": "get_weather", "description": ABOUT, "input_schema": SCHEMA}]
    said = [{"role": "user", "content": QUESTION}]

    def ask():
        request = {"model": model, "max_tokens": 1000, "system": "Be brief.", "messages": said, "tools": tools}
        if not streamed:
            return client.messages.create(**request)
        with client.messages.stream(**request) as stream:
            return stream.get_final_message()

    message = ask()
    calls = [block for block in message.content if block.type == "tool_use"]
    check((message.stop_reason, [(call.name, call.input) for call in calls]), ("tool_use", [("get_weather", CITY)]))
    said += [
        {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in message.content]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": calls[0].id, "content": RESULT}]},
    ]
    message = ask()
    check((message.stop_reason, message.usage.input_tokens), ("end_turn", 11))
    check("21" in message.content[0].text, True)


def llama(client, model, streamed):
    tools = [{"type": "function", "function": {"name": "get_weather", "description": ABOUT, "parameters": SCHEMA}}]
    said = [{"role": "user", "content": QUESTION}]

    def ask():
        if not streamed:
            answer = client.chat(model=model, messages=said, tools=tools)
            return answer.message.content or "", answer.message.tool_calls or [], answer.done_reason
        text, calls, reason = "", [], None
        for part in client.chat(model=model, messages=said, tools=tools, stream=True):
            text += part.message.content or ""
            calls += part.message.tool_calls or []
            reason = part.done_reason or reason
        return text, calls, reason

    _, calls, reason = ask()
    check(([(call.function.name, call.function.arguments) for call in calls], reason), ([("get_weather", CITY)], "stop"))
    said.append({"role": "assistant", "content": "", "tool_calls": [call.model_dump() for call in calls]})
    said.append({"role": "tool", "tool_name": "get_weather", "content": RESULT})
    text, calls, _ = ask()
    check(("21" in text, len(calls)), (True, 0))


def others(chat, messages, local):
    """What is asked beside conversations, and errors in each API's shape."""
    check([model.id for model in chat.models.list()], ["native", "leaked", "prompt"])
    check([model.id for model in messages.models.list()], ["native", "leaked", "prompt"])
    check([model.model for model in local.list().models], ["native", "leaked", "prompt"])
    check("tools" in local.show("native").capabilities, True)
    check("21" in local.generate(model="native", prompt=QUESTION).response, True)
    tokens = messages.messages.count_tokens(model="native", messages=[{"role": "user", "content": QUESTION}])
    check(tokens.input_tokens > 5, True)
    said = [{"role": "user", "content": QUESTION}]
    shorter = chat.responses.compact(model="native", input=said)
    check([item.type for item in shorter.output], ["message", "compaction"])
    items = [item.model_dump(exclude_none=True) for item in shorter.output] + said
    check("21" in chat.responses.create(model="native", input=items).output_text, True)
    for ask, error in (
        (lambda: chat.responses.create(model="native", input="x", previous_response_id="resp_none"),
         openai.BadRequestError),
        (lambda: messages.messages.create(model="native", max_tokens=5, messages=[{"role": "bot", "content": ""}]),
         anthropic.BadRequestError),
        (lambda: local.show("none"), ollama.ResponseError),
    ):
        try:
            ask()
        except error as told:
            check(len(str(told)) > 20 and "{}" not in str(told), True)
        else:
            sys.exit(f"expected {error.__name__}")


DIALECTS = pathlib.Path(__file__).parents[2] / "crates/del-dialects/dialects"


def dialects():
    return sorted(path.parent for path in DIALECTS.glob("*/dialect.toml"))


def cuts(chat, messages, local, every):
    """What each SDK puts together of a stream is what it gets at once: of canonical answers of all dialects."""
    tools = json.loads((DIALECTS / "tools.json").read_text(encoding="utf-8"))
    count = 0
    for place, dialect in enumerate(dialects()):
        cases = [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(dialect.glob("cases/*.toml"))]
        canonical = [case["text"] for case in cases if case.get("canonical") and case.get("tools") != "none"]
        for text in canonical if every else canonical[:1]:
            for size in (1, 2, 3, 5, 8, 13) if every else (1 + place % 7,):
                for echo, client in ((echo_chat, chat), (echo_response, chat), (echo_claude, messages), (echo_llama, local)):
                    got = [echo(client, f"echo-{size}", text, tools, streamed) for streamed in (False, True)]
                    if got[0] != got[1]:
                        sys.exit(f"{dialect.name}, {echo.__name__}, pieces of {size}: at once {got[0]}, streamed {got[1]}")
                    count += 1
    return count


def echo_chat(client, model, text, tools, streamed):
    tools = [{"type": "function", "function": tool} for tool in tools]
    request = {"model": model, "messages": [{"role": "user", "content": text}], "tools": tools}
    if streamed:
        with client.chat.completions.stream(**request) as stream:
            choice = stream.get_final_completion().choices[0]
    else:
        choice = client.chat.completions.create(**request).choices[0]
    calls = [(call.function.name, call.function.arguments) for call in choice.message.tool_calls or []]
    return choice.message.content or "", calls, choice.finish_reason


def echo_response(client, model, text, tools, streamed):
    tools = [{"type": "function", **tool} for tool in tools]
    response = ask_response(client, streamed, model=model, input=text, tools=tools, store=False)
    calls = [(item.name, item.arguments) for item in response.output if item.type == "function_call"]
    return [item.type for item in response.output], response.output_text, calls, response.status


def echo_claude(client, model, text, tools, streamed):
    tools = [{"name": tool["name"], "input_schema": tool["parameters"]} for tool in tools]
    request = {"model": model, "max_tokens": 1000, "messages": [{"role": "user", "content": text}], "tools": tools}
    if streamed:
        with client.messages.stream(**request) as stream:
            message = stream.get_final_message()
    else:
        message = client.messages.create(**request)
    said = [(block.type, getattr(block, "text", None) or getattr(block, "thinking", None) or (block.name, block.input))
            for block in message.content]
    return said, message.stop_reason


def echo_llama(client, model, text, tools, streamed):
    tools = [{"type": "function", "function": tool} for tool in tools]
    request = {"model": model, "messages": [{"role": "user", "content": text}], "tools": tools}
    parts = list(client.chat(stream=True, **request)) if streamed else [client.chat(**request)]
    said = "".join(part.message.content or "" for part in parts)
    thought = "".join(part.message.thinking or "" for part in parts)
    calls = [(call.function.name, call.function.arguments) for part in parts for call in part.message.tool_calls or []]
    return said, thought, calls, parts[-1].done_reason


def check(got, expected):
    if got != expected:
        sys.exit(f"expected {expected!r}, got {got!r}")


if __name__ == "__main__":
    main()
