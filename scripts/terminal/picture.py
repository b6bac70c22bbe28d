#!/usr/bin/env python3
"""A captured screen as an SVG: `picture.py FILE.ansi COLUMNS light|dark >FILE.svg`.

Reads what `tmux capture-pane -e` writes: text, and escapes that set colours and weights. Every character gets a place of its
own in a grid, so that the picture is the screen whatever font shows it.
"""

import html
import re
import sys
import unicodedata

WIDTH, HEIGHT, PAD = 8.4, 18, 12
THEMES = {
    "light": {"ground": "#ffffff", "text": "#24292f", "colours": [
        "#24292f", "#cf222e", "#116329", "#7d4e00", "#0969da", "#8250df", "#1b7c83", "#6e7781",
        "#57606a", "#a40e26", "#1a7f37", "#633c01", "#218bff", "#a475f9", "#3192aa", "#8c959f"]},
    "dark": {"ground": "#0d1117", "text": "#e6edf3", "colours": [
        "#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4",
        "#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#f0f6fc"]},
}
MARKS = {1: "font-weight:bold", 2: "opacity:0.6", 3: "font-style:italic",
         4: "text-decoration:underline", 9: "text-decoration:line-through"}
# The foot of a result, which few fonts have.
FOOT = "\u23bf"
ESCAPE = re.compile(r"\x1b\[([0-9;:]*)m|\x1b[()][A-B0-2]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x0e\x0f]")


def colour(theme, number):
    """The colour of the palette of 256."""
    if number < 16:
        return theme["colours"][number]
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    number -= 16
    level = [0, 95, 135, 175, 215, 255]
    return "#" + "".join(f"{level[part]:02x}" for part in (number // 36, number // 6 % 6, number % 6))


def changed(style, codes, theme):
    """The style after an escape."""
    style = dict(style)
    codes = [int(code or 0) for code in re.split("[;:]", codes)]
    while codes:
        code = codes.pop(0)
        if code == 0:
            style = {}
        elif code in (1, 2, 3, 4, 7, 9):
            style[code] = True
        elif code == 22:
            style.pop(1, None), style.pop(2, None)
        elif code in (23, 24, 27, 29):
            style.pop(code - 20, None)
        elif code in (38, 48) and codes:
            kind = codes.pop(0)
            value = colour(theme, codes.pop(0)) if kind == 5 else "#" + "".join(f"{codes.pop(0):02x}" for _ in range(3))
            style["fore" if code == 38 else "back"] = value
        elif code in (39, 49):
            style.pop("fore" if code == 39 else "back", None)
        for first, place, bright in ((30, "fore", 0), (40, "back", 0), (90, "fore", 8), (100, "back", 8)):
            if first <= code < first + 8:
                style[place] = theme["colours"][code - first + bright]
    return style


def wide(character):
    """Columns of a character; those that join others have none."""
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cells(text):
    """Runs of characters that are a column wide, and each wide one by itself with what joins it."""
    run = joined = ""
    for character in text:
        columns = wide(character)
        if joined and (columns == 0 or joined.endswith("\u200d")):
            joined += character
        elif columns == 2:
            yield from [(run, len(run))] * bool(run) + [(joined, 2)] * bool(joined)
            run, joined = "", character
        else:
            yield from [(joined, 2)] * bool(joined)
            run, joined = run + character, ""
    yield from [(joined, 2)] * bool(joined) + [(run, sum(map(wide, run)))] * bool(run)


def spans(line, style, theme):
    """Runs of one style in a line, with their columns, and the style behind them."""
    found, column, start = [], 0, 0
    for match in [*ESCAPE.finditer(line), None]:
        for text, width in cells(line[start:match.start() if match else len(line)]):
            found.append((column, width, text, style))
            column += width
        if match:
            start = match.end()
            style = changed(style, match.group(1), theme) if match.group(1) is not None else style
    return found, style


def drawn(row, column, width, text, style, theme):
    """One run as elements."""
    fore, back = style.get("fore", theme["text"]), style.get("back")
    if style.get(7):
        fore, back = back or theme["ground"], fore
    x, y = PAD + column * WIDTH, PAD + row * HEIGHT
    if back:
        yield f'<rect x="{x:.1f}" y="{y}" width="{width * WIDTH:.1f}" height="{HEIGHT}" fill="{back}"/>'
    if text.strip():
        classes = "".join(f" s{code}" for code in MARKS if style.get(code)).strip()
        classes = f' class="{classes}"' if classes else ""
        for place in (place for place, character in enumerate(text) if character == FOOT and len(text) == width):
            yield (f'<path d="M{x + (place + 0.4) * WIDTH:.1f} {y}v{HEIGHT * 0.6:.1f}h{WIDTH * 0.6:.1f}" fill="none"'
                   f' stroke="{fore}"{classes}/>')
        text = text.replace(FOOT, " ") if len(text) == width else text
    if text.strip():
        yield (f'<text x="{x:.1f}" y="{y + 13.5}" fill="{fore}" textLength="{width * WIDTH:.1f}"'
               f' lengthAdjust="spacingAndGlyphs"{classes}>{html.escape(text)}</text>')


def main():
    path, columns, name = sys.argv[1:]
    theme = THEMES[name]
    with open(path, encoding="utf-8") as file:
        lines = file.read().rstrip("\n").split("\n")
    while lines and not ESCAPE.sub("", lines[-1]).strip():
        lines.pop()
    width, height = int(columns) * WIDTH + 2 * PAD, len(lines) * HEIGHT + 2 * PAD
    print(f'<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}">')
    marks = "".join(f".s{code}{{{mark}}}" for code, mark in MARKS.items())
    print(f"<style>text{{font:14px 'DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre}}{marks}</style>")
    print(f'<rect width="100%" height="100%" rx="6" fill="{theme["ground"]}"/>')
    style = {}
    for row, line in enumerate(lines):
        found, style = spans(line, style, theme)
        for run in found:
            for element in drawn(row, *run, theme):
                print(element)
    print("</svg>")


main()
