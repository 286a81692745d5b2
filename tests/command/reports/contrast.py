"""Text in the bars of the page can be read: contrast.py page.css. Every kind of cycles, in the light and the dark theme, has a contrast of
at least 4.5 between its colour and that of the text in it (WCAG 2.1, success criterion 1.4.3). Exits 1 with those that have less."""
import re
import sys

css = open(sys.argv[1], encoding="utf-8").read()


def luminance(colour):
    digits = colour.lstrip("#")
    digits = "".join(c * 2 for c in digits) if len(digits) == 3 else digits
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    r, g, b = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a, b):
    dark, light = sorted((luminance(a), luminance(b)))
    return (light + 0.05) / (dark + 0.05)


themes = [dict(re.findall(r"(--[\w-]+): (#\w+)", rule)) for rule in re.findall(r"\{([^{}]*--c-issue: [^{}]*)\}", css)]
pale = set(re.search(r"\.stack i:is\((.*?)\)", css).group(1).replace(".", "").split(", "))
fills = re.findall(r"((?:\.k-\w+(?:, )?)+) \{ background: (?:repeating-linear-gradient\(45deg, )?var\((--c-\w+)", css)
kinds = [(kind, variable) for names, variable in fills for kind in names.replace(".", "").split(", ")]
bad = [(kind, theme[variable], round(contrast(theme[variable], theme[text]), 2))
       for theme in themes for kind, variable in kinds for text in ["--on-pale" if kind in pale else "--on-fill"]
       if contrast(theme[variable], theme[text]) < 4.5]
for row in bad:
    print("too little contrast:", *row)
print(len(themes), "themes,", len(kinds), "kinds")
sys.exit(1 if bad or len(themes) != 3 or len(kinds) < 18 else 0)
