"""A question, the call that it takes, and the answer, by LiteLLM, streamed: `ask_litellm.py URL MODEL`.

The server is llama.cpp's and its model knows no tools. It is held to a call by a grammar: very small models write one only
so.
"""

import json
import sys

import litellm

from del_dialects import Tools, grammar
from del_dialects.litellm import TextTools, register

CITY = {"type": "string", "description": "The city's name."}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Get the weather of a city.",
            "parameters": {"type": "object", "properties": {"city": CITY}, "required": ["city"]},
        },
    }
]

url, name = sys.argv[1:]
register(handler=TextTools("hermes", detail="compact", remind=True))
asked = {"model": f"del/openai/{name}", "tools": TOOLS, "api_base": url, "api_key": "none", "temperature": 0}
asked |= {"max_tokens": 100, "stream": True}
messages = [{"role": "user", "content": "What is the weather in Paris?"}]

gbnf = grammar("hermes", Tools(TOOLS), "required", parallel=False).to_gbnf()
chunks = litellm.completion(messages=messages, extra_body={"grammar": gbnf}, **asked)
message = litellm.stream_chunk_builder(list(chunks)).choices[0].message
call = message.tool_calls[0]
print("call:  ", call.function.name, call.function.arguments)
assert call.function.name == "get_weather" and json.loads(call.function.arguments) == {"city": "Paris"}

messages += [message, {"role": "tool", "tool_call_id": call.id, "content": "sunny, 21 degrees"}]
answer = litellm.stream_chunk_builder(list(litellm.completion(messages=messages, **asked))).choices[0].message
print("answer:", answer.content)
assert "21" in answer.content
