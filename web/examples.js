/** Tools to begin with. */
export const TOOLS = [
  {
    name: "get_weather",
    description: "Get the weather of a city",
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer" } },
      required: ["city"],
    },
  },
];

/** Texts to begin with. */
export const EXAMPLES = [
  {
    title: "Hermes, with a closer missing",
    text: '<think>\nThey want the weather.\n</think>\n\nI will look. 🌦\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Köln", "days": 3,}}\n',
  },
  {
    title: "Qwen3-Coder",
    text: "I will look.\n<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
  },
  {
    title: "GLM, two calls",
    text: "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>\n<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Rome</arg_value>\n</tool_call>",
  },
  {
    title: "Harmony",
    text: '<|channel|>analysis<|message|>They want the weather.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city":"Paris"}<|call|>',
  },
  { title: "Python", text: "[get_weather(city='Paris', days=3), get_weather(city='Rome')]" },
  { title: "A call that was cut off", text: '[TOOL_CALLS]get_weather[ARGS]{"city": "Par' },
];
