"""Look at the inspector of `del serve` in headless Chromium: del, chromium and a folder for pictures."""

import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading
import urllib.request

from playwright.sync_api import expect, sync_playwright

HOSTILE = (
    "<script>window.hurt = 1</script></script></pre><img src=x onerror='window.hurt = 2'>"
    "<a href='javascript:window.hurt=3'>x</a>\x1b[2J\x1b]0;title\x07 \u202eevil\u202c <svg onload=window.hurt=4>"
)
GUESSED = (
    "<think>They ask for two cities.</think>I will look that up for both.\n"
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris" "days": 3}}\n</tool_call>\n'
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>'
)
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}
# Says what the question names; the last one waits for its permission to end.
LONG = GUESSED[GUESSED.rindex("<tool_call>") :] + "\n" + "It rains and rains. " * 60_000
CUT = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Par'
ANSWERS = {"hostile": HOSTILE, "guess": GUESSED, "cut": CUT, "long": LONG}
GO_ON = threading.Event()


class Model(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer({"object": "list", "data": [{"id": "qwen2.5-coder:7b", "object": "model"}]})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "messages" not in asked:
            return self.send_error(404)
        question = str(asked["messages"][-1]["content"])
        if "wait" in question:
            return self.stream()
        text = next((text for word, text in ANSWERS.items() if word in question), "It rains in Paris.")
        message = {"role": "assistant", "content": text}
        finish = "length" if "cut" in question else "stop"
        choice = {"index": 0, "message": message, "finish_reason": finish}
        self.answer({"id": "a", "object": "chat.completion", "model": asked["model"], "choices": [choice]})

    def stream(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.event({"role": "assistant", "content": "One moment"}, None)
        GO_ON.wait(60)
        self.event({"content": ", please."}, None)
        self.event({}, "stop")
        self.wfile.write(b"data: [DONE]\n\n")

    def event(self, delta, finish):
        chunk = {"id": "a", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.flush()

    def answer(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def ask(base, question, path="/v1/chat/completions", stream=False, model="qwen2.5-coder:7b"):
    body = {"model": model, "messages": [{"role": "user", "content": question}], "tools": [TOOL], "stream": stream}
    if path == "/v1/messages":
        function = TOOL["function"]
        tool = {"name": function["name"], "description": function["description"], "input_schema": function["parameters"]}
        body |= {"max_tokens": 100, "tools": [tool]}
    request = urllib.request.Request(base + path, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return response.read()


def serve(del_program, upstream, *options, **variables):
    command = [del_program, "serve", "--listen", "127.0.0.1:0", "--upstream", upstream, *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | variables)
    line = process.stdout.readline()
    return process, line.split(" ")[2].rstrip(",").removesuffix("/v1")


def checked(page, base):
    """What is looked at, in the order in which it is done."""
    page.goto(base)
    expect(page.locator("#list .none")).to_be_visible()
    expect(page.locator("#link")).to_have_text("live")

    # A request appears by itself, is followed while it is under way, and ends.
    waiting = threading.Thread(target=ask, args=(base, "wait", "/v1/chat/completions", True))
    waiting.start()
    row = page.locator("#list a").first
    expect(row.locator(".dot.open")).to_be_visible()
    row.click()
    expect(page.locator("pre.model")).to_have_text("One moment")
    GO_ON.set()
    expect(page.locator("pre.model")).to_have_text("One moment, please.")
    expect(page.locator(".dot.open")).to_have_count(0)
    waiting.join()

    # Spans are marked, and what was guessed is said.
    ask(base, "guess", "/v1/messages")
    expect(page.locator("#list a")).to_have_count(2)
    page.locator("#list a").first.click()
    model = page.locator("pre.model")
    expect(model.locator(".name").first).to_have_text("get_weather")
    expect(model.locator(".name")).to_have_count(2)
    expect(model.locator(".reasoning")).to_have_text("They ask for two cities.")
    assert '"city": "Paris"' in "".join(model.locator(".arguments").all_text_contents())
    assert "<tool_call>" in "".join(model.locator(".mark").all_text_contents())
    expect(model.locator(".point")).to_have_count(1)
    expect(page.locator(".faults li").first).to_contain_text("guessed_border")
    expect(page.locator("dl.facts")).to_contain_text("hermes-json")
    assert "".join(model.all_text_contents()).replace("\u25b4", "") == GUESSED
    with page.expect_download() as download:
        page.locator("a.export").click()
    case = pathlib.Path(download.value.path()).read_text()
    assert 'faults = ["guessed_border"]' in case and "[expect]" in case, case
    assert download.value.suggested_filename.startswith("hermes-json-")

    # Hostile content is text, wherever it stands.
    ask(base, "hostile " + HOSTILE, model=HOSTILE)
    expect(page.locator("#list a")).to_have_count(3)
    page.locator("#list a").first.click()
    expect(page.locator("h1")).to_contain_text("<script>")
    for details in page.locator("main details").all():
        details.locator("summary").click()
    expect(page.locator("main")).to_contain_text("onerror='window.hurt = 2'")
    assert page.evaluate("window.hurt") is None
    assert page.locator("main script, main img, main svg").count() == 0
    assert page.locator("main a[href^=javascript]").count() == 0
    shown = page.locator("body").inner_text()
    assert not any(letter in shown for letter in "\x1b\x07\u202e"), "a control character is shown as it is"
    assert "\u241b[2J" in shown

    # Neither does a model's name without an end, and an answer that is longer than what is kept is read as far as that.
    ask(base, "long", model="W" * 5000 + "\u0300" * 500)
    expect(page.locator("#list a")).to_have_count(4)
    page.locator("#list a").first.click()
    expect(page.locator("h1")).to_contain_text("WWW")
    page.wait_for_function("document.querySelector('h1')?.getBoundingClientRect().height < 100")
    expect(page.locator("main")).to_contain_text("Of the answer, the first 1.0 MB are kept")
    expect(page.locator("pre.model")).to_contain_text("It rains and rains")
    expect(page.locator("pre.model .name")).to_have_text("get_weather")

    # Every dialect's reading of a text, and of a template.
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    expect(page.locator("#text")).to_be_focused()
    page.locator("#text").fill(GUESSED)
    page.get_by_role("button", name="Read", exact=True).click()
    expect(page.locator(".won")).to_contain_text("hermes-json")
    expect(page.locator("#out")).to_contain_text("Call 1 was known as hermes-json")
    page.locator("#out table button").nth(1).click()
    expect(page.locator("#out h2").first).to_contain_text("read alone")
    page.locator("#text").fill(HOSTILE)
    page.get_by_role("button", name="Read", exact=True).click()
    expect(page.locator(".won")).to_contain_text("There is no call")
    assert page.evaluate("window.hurt") is None
    template = pathlib.Path(__file__).parents[2] / "crates/del-detect/tests/families/hermes-json.jinja"
    page.locator("#text").fill(template.read_text())
    expect(page.locator("#template")).to_be_checked()
    page.get_by_role("button", name="Read", exact=True).click()
    expect(page.locator(".won")).to_contain_text("hermes-json")

    # The keyboard alone leads everywhere.
    page.locator("h1").click()
    page.keyboard.press("r")
    page.keyboard.press("j")
    expect(page.locator("#list a").first).to_have_attribute("aria-current", "true")
    page.keyboard.press("j")
    expect(page.locator("#list a").nth(1)).to_have_attribute("aria-current", "true")
    page.keyboard.press("k")
    expect(page.locator("#list a").first).to_have_attribute("aria-current", "true")


def taken(browser, base, folder):
    ask(base, "cut")
    ask(base, "What is the weather?")
    views = {"light": ("light", 1280, 860), "dark": ("dark", 1280, 860), "phone": ("light", 390, 844), "phone-dark": ("dark", 390, 844)}
    for name, (scheme, width, height) in views.items():
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": height}, device_scale_factor=2)
        page = context.new_page()
        page.goto(base)
        expect(page.locator("#list a")).to_have_count(6)
        page.screenshot(path=folder / f"inspector-{name}-list.png")
        page.locator("#list a").nth(4).click()
        expect(page.locator("pre.model")).to_be_visible()
        page.screenshot(path=folder / f"inspector-{name}.png")
        page.locator("main details").last.locator("summary").click()
        page.locator("main").evaluate("main => main.scrollTo(0, main.scrollHeight)")
        page.screenshot(path=folder / f"inspector-{name}-end.png")
        page.goto(base + "/#/try")
        page.locator("#text").fill(GUESSED)
        page.get_by_role("button", name="Read", exact=True).click()
        expect(page.locator(".won")).to_be_visible()
        page.screenshot(path=folder / f"inspector-{name}-try.png")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name}: wider than the window"
        context.close()


def guarded(browser, del_program, upstream):
    """With a key, nothing is seen without it; switched off, there is nothing."""
    process, base = serve(del_program, upstream, "--api-key-env", "DEL_LOOK_KEY", DEL_LOOK_KEY="s3cret")
    try:
        context = browser.new_context()
        for path in ["/", "/inspector/app.js", "/inspector/requests"]:
            assert context.request.get(base + path).status == 401, path
        context.close()
        context = browser.new_context(http_credentials={"username": "me", "password": "s3cret"})
        page = context.new_page()
        page.goto(base)
        expect(page.locator("#link")).to_have_text("live")
        context.close()
    finally:
        process.terminate()
        process.wait()
    process, base = serve(del_program, upstream, "--no-inspector")
    try:
        context = browser.new_context()
        assert context.request.get(base + "/").status == 404
        assert context.request.get(base + "/inspector/requests").status == 404
        context.close()
    finally:
        process.terminate()
        process.wait()


def main():
    del_program, chromium, folder = sys.argv[1:]
    model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    upstream = f"http://127.0.0.1:{model.server_port}/v1"
    process, base = serve(del_program, upstream)
    try:
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1280, "height": 860})
            said, elsewhere = [], []
            page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
            page.on("pageerror", lambda error: said.append(str(error)))
            page.on("request", lambda request: elsewhere.append(request.url) if not request.url.startswith((base, "data:")) else None)
            page.on("dialog", lambda dialog: said.append("a dialog"))
            checked(page, base)
            assert not said, said
            assert not elsewhere, elsewhere
            page.close()
            taken(browser, base, pathlib.Path(folder))
            guarded(browser, del_program, upstream)
            browser.close()
    finally:
        process.terminate()
        process.wait()
    print("==> the inspector shows what it should, and does nothing else")


if __name__ == "__main__":
    main()
