"""A question, the call that it takes, and the answer, in an agent of smolagents, streamed: `ask_smolagents.py URL MODEL`.

The server is llama.cpp's and its model knows no tools. In these agents each answer is a call, the last one as well, to
which a grammar holds the model: very small ones write a call only so.
"""

import sys

from smolagents import LogLevel, OpenAIModel, ToolCallingAgent, tool
from smolagents.models import REMOVE_PARAMETER, get_tool_json_schema

from del_dialects import grammar
from del_dialects.smolagents import TextCalls


class Model(TextCalls, OpenAIModel):
    pass


@tool
def get_weather(city: str) -> str:
    """Get the weather of a city.

    Args:
        city: The city's name.
    """
    print("call:  ", f"get_weather({city!r})")
    return f"sunny in {city}, 21 degrees"


url, name = sys.argv[1:]
gbnf = grammar("smolagents", [get_tool_json_schema(get_weather)], "required", parallel=False).to_gbnf()
model = Model(
    name,
    api_base=url,
    api_key="none",
    temperature=0,
    max_tokens=100,
    extra_body={"grammar": gbnf},
    tools=REMOVE_PARAMETER,
    tool_choice=REMOVE_PARAMETER,
)
agent = ToolCallingAgent([get_weather], model, max_steps=1, stream_outputs=True, verbosity_level=LogLevel.OFF)
agent.run("What is the weather in Paris?")
step = agent.memory.steps[1]
print("answer:", step.observations)
assert "21 degrees" in step.observations
