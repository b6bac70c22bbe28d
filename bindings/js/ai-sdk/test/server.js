// A server of the OpenAI API whose answers are written down, cut into small pieces where they are streamed.
import { createServer } from "node:http";
import { once } from "node:events";

export async function scripted(answers) {
  const asked = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const { stream, ...sent } = JSON.parse(body);
    const { text, finish = "stop" } = answers[asked.length];
    asked.push(sent);
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const head = { id: "x", created: 1, model: sent.model };
    if (!stream) {
      response.setHeader("content-type", "application/json");
      const choice = { index: 0, message: { role: "assistant", content: text }, finish_reason: finish };
      response.end(JSON.stringify({ ...head, object: "chat.completion", choices: [choice], usage }));
      return;
    }
    response.setHeader("content-type", "text/event-stream");
    const chunk = (delta, finish_reason = null) =>
      response.write(`data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
    for (let at = 0; at < text.length; at += 3) chunk({ content: text.slice(at, at + 3) });
    chunk({}, finish);
    response.end("data: [DONE]\n\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { asked, url: `http://127.0.0.1:${server.address().port}/v1`, close: () => server.close() };
}
