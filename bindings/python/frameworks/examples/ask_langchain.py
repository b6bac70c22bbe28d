"""A question, the call that it takes, and the answer, in an agent of LangChain: `ask_langchain.py URL MODEL`.

The server is llama.cpp's and its model knows no tools. It is held to a call by a grammar: very small models write one only
so.
"""

import sys

from langchain.agents import create_agent
from langchain.agents.middleware import wrap_model_call
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI

from del_dialects import grammar
from del_dialects.langchain import TextTools


def get_weather(city: str) -> str:
    """Get the weather of a city."""
    print("call:  ", f"get_weather({city!r})")
    return "sunny, 21 degrees"


@wrap_model_call
def held_to_a_call(request, handler):
    """The first answer is a call, those behind results are text."""
    if isinstance(request.messages[-1], HumanMessage):
        gbnf = grammar("hermes", [get_weather], "required", parallel=False).to_gbnf()
        request = request.override(model_settings={"extra_body": {"grammar": gbnf}})
    return handler(request)


url, name = sys.argv[1:]
model = ChatOpenAI(base_url=url, model=name, api_key="none", temperature=0, max_tokens=100)
agent = create_agent(model, [get_weather], middleware=[held_to_a_call, TextTools("hermes", detail="compact", remind=True)])
messages = agent.invoke({"messages": [{"role": "user", "content": "What is the weather in Paris?"}]})["messages"]
print("answer:", messages[-1].content)
assert "21" in messages[-1].content
