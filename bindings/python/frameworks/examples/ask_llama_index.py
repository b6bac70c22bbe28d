"""A question and the call that it takes, in a ReAct agent of LlamaIndex: `ask_llama_index.py URL MODEL`.

The server is llama.cpp's and its model knows no tools. It is held to a call by a grammar: very small models write one only
so, and only so does one that was told of another form write its own.
"""

import asyncio
import sys

from llama_index.core.agent.workflow import ReActAgent
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike

from del_dialects import grammar
from del_dialects.llama_index import DelOutputParser


def get_weather(city: str) -> str:
    """Get the weather of a city."""
    print("call:  ", f"get_weather({city!r})")
    return f"sunny in {city}, 21 degrees"


async def main(url: str, name: str) -> None:
    gbnf = grammar("hermes", [get_weather], "required", parallel=False).to_gbnf()
    options = {"extra_body": {"grammar": gbnf}}
    llm = OpenAILike(
        model=name, api_base=url, api_key="none", is_chat_model=True, temperature=0, additional_kwargs=options
    )
    # The result of the tool is the answer.
    tool = FunctionTool.from_defaults(get_weather, return_direct=True)
    agent = ReActAgent(tools=[tool], llm=llm, output_parser=DelOutputParser([tool]))
    answer = await agent.run("What is the weather in Paris?")
    print("answer:", answer)
    assert "21 degrees" in str(answer)


asyncio.run(main(*sys.argv[1:]))
