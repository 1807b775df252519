/** What becomes of text from the wire, in a real browser: what it means stays, what it could do does not. */
import { beforeAll, describe, expect, test } from "vitest";
import { webLink } from "../../src/draw/links";
import { inChromium } from "../chromium";
import type { Drawn, Way } from "./safe.page";

const HOSTILE_PROSE = [
  "<script>window.hacked = 1</script>",
  "<img src=x onerror='window.hacked = 1'>",
  "<svg onload='window.hacked = 1'><a href='javascript:alert(1)'>x</a></svg>",
  "<iframe srcdoc='<script>parent.hacked = 1</script>'></iframe>",
  "<math><mtext><table><mglyph><style><img src=x onerror='window.hacked = 1'>",
  "[click](javascript:alert(1))",
  "[click](  JaVaScRiPt:alert(1))",
  "[click](java&#10;script:alert(1))",
  "[click](data:text/html;base64,PHNjcmlwdD4=)",
  "[click](vbscript:msgbox)",
  "[click](//evil.example)",
  "[click](#/approvals)",
  "![x](javascript:alert(1))",
  "![x](https://evil.example/pixel.png)",
  "[a](https://bank.example@evil.example/)",
  '[x](https://a.example/"onmouseover="alert(1))',
  '![x"onerror="alert(1)](https://a.example)',
  '<a href="https://a.example" onclick="alert(1)" style="position:fixed">x</a>',
  "<form action=https://evil.example><input name=token><button>ok</button></form>",
  "<style>* { display: none }</style><link rel=stylesheet href=https://evil.example>",
  "<base href=https://evil.example><meta http-equiv=refresh content=0;url=https://evil.example>",
  "<https://ok.example> <javascript:alert(1)>",
  "```html\n<script>alert(1)</script>\n```",
  "```x onmouseover=alert(1)\ncode\n```",
  "| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(1)> |",
  "$$ x $$ and \\( y \\)",
  "<div id=console name=cookie>clobber</div>",
];
const HOSTILE_OUTPUT = [
  "<script>window.hacked = 1</script>",
  "\x1b[31m<img src=x onerror='window.hacked = 1'>\x1b[0m",
  "\x1b]8;;javascript:alert(1)\x07click\x1b]8;;\x07",
  '\x1b]8;;https://a.example/"><script>window.hacked=1</script>\x07click\x1b]8;;\x07',
  '<span class="toasts" style="position:fixed">',
  "\x1b[<b>\x1b]0;<b>title</b>\x07",
];
const TAGS = "p br hr h3 h4 h5 h6 strong em s del code pre blockquote ul ol li table thead tbody tr th td a input span";
const ATTRIBUTES = "href target rel align start type checked disabled class";
const PLAN =
  "# Plan\n\nI will **look** at `a.py`:\n\n1. one\n\n- [x] done\n\n```py\nprint(1)\n```\n\n| a |\n|---|\n| 1 |\n\n###### Deep\n";

// Embeddings, overrides and isolates, as characters and as references; joined emoji and marks of direction are no trick.
const TURNED =
  "see \u202egnp.exe\u202c, `\u2066x`, [\u2067y](https://a.example/\u202ez) and \u{1f469}\u200d\u{1f4bb} \u05d0\u200f!";
const UPRIGHT = "see \\u{202e}gnp.exe\\u{202c}, \\u{2066}x, \\u{2067}y and \u{1f469}\u200d\u{1f4bb} \u05d0\u200f!";

const LONG = `\x1b[31m${"a red line\n".repeat(1_000)}\x1b[0mplain ${"and so on\n".repeat(1_000)}`;

const CASES: readonly (readonly [Way, string])[] = [
  ...HOSTILE_PROSE.flatMap((text): [Way, string][] => [
    ["finished", text],
    ["live", text],
  ]),
  ...HOSTILE_OUTPUT.map((text): [Way, string] => ["printed", text]),
  ["finished", PLAN],
  ["live", PLAN],
  ["finished", "![a cat](https://pics.example/cat.png) [x](https://a.example/b)"],
  ["finished", `${"> ".repeat(20_000)}deep`],
  ["finished", "x".repeat(300_000)],
  ["printed", "\x1b[31mbad\x1b[0m \x1b[1;32mgood\x1b[0m"],
  ["printed", "\x1b[38;5;208morange\x1b[0m\x1b[48;2;0;10;230mblue\x1b[0m"],
  ["printed", "10%\r50%\r100%\ndone"],
  ["printed", "one\r\ntwo\r\nhalf\r"],
  ["printed", "a\u202eb\u2066c\x00d\x08e"],
  ["printed", "\x1b]8;;https://a.example/\x07here\x1b]8;;\x07"],
  ["printed", LONG],
  ["finished", TURNED],
  ["live", TURNED],
  ["finished", "&#x202e;turned"],
  ["printed", "a\x1b]0;title\x07b\x07 \x1b]0;rest of it\nall"],
];

let hacked = true;
const drawn = new Map<string, Drawn>();

beforeAll(async () => {
  const answer = await inChromium(new URL("./safe.page.ts", import.meta.url), CASES);
  if (!isAnswer(answer)) throw new Error("the page answers something else");
  hacked = answer.hacked;
  for (const [place, [way, text]] of CASES.entries()) {
    const one = answer.drawn[place];
    if (one !== undefined) drawn.set(`${way} ${text}`, one);
  }
}, 180_000);

function isAnswer(value: unknown): value is { hacked: boolean; drawn: Drawn[] } {
  return typeof value === "object" && value !== null && "drawn" in value && "hacked" in value;
}

function of(way: Way, text: string): Drawn {
  const found = drawn.get(`${way} ${text}`);
  if (found === undefined) throw new Error(`not drawn: ${text}`);
  return found;
}

function breaches({ elements }: Drawn): string[] {
  return elements.flatMap(({ tag, attributes }) => [
    ...(TAGS.split(" ").includes(tag) ? [] : [tag]),
    ...Object.keys(attributes).filter((name) => !ATTRIBUTES.split(" ").includes(name)),
    ...("href" in attributes && webLink(attributes.href ?? "") === null ? [attributes.href ?? ""] : []),
    ...(tag === "input" && !("disabled" in attributes && attributes.type === "checkbox") ? ["input"] : []),
  ]);
}

function pieces(drawing: Drawn): string[] {
  return drawing.elements.map(({ tag, text, attributes }) => `${tag}.${attributes.class ?? ""} ${text}`);
}

describe("hostile text", () => {
  test("runs nothing", () => {
    expect(hacked).toBe(false);
  });

  test.each(HOSTILE_PROSE)("leaves nothing that acts in finished Markdown: %s", (text) => {
    expect(breaches(of("finished", text))).toEqual([]);
  });

  test.each(HOSTILE_PROSE)("leaves nothing that acts in Markdown that is being written: %s", (text) => {
    expect(breaches(of("live", text))).toEqual([]);
  });

  test.each(HOSTILE_OUTPUT)("leaves nothing that acts in a tool's output: %j", (text) => {
    expect(breaches(of("printed", text))).toEqual([]);
  });

  test("is shown as the text that it is", () => {
    const script = "<script>window.hacked = 1</script>";
    expect(of("finished", script).text).toContain(script);
    expect(of("printed", script).text).toBe(script);
    expect(of("printed", script).elements).toEqual([]);
  });

  test("beyond reason stays readable", () => {
    expect(of("finished", `${"> ".repeat(20_000)}deep`).text).toContain("deep");
    expect(of("finished", "x".repeat(300_000)).text).toHaveLength(300_000);
  });
});

describe("prose", () => {
  test.each<Way>(["finished", "live"])("tells what would turn its letters round, and leads where it led: %s", (way) => {
    const { text, elements } = of(way, TURNED);
    expect(text.trim()).toBe(UPRIGHT);
    const [link] = elements.filter(({ tag }) => tag === "a");
    expect(link?.attributes.href).toBe("https://a.example/%E2%80%AEz");
  });

  test("is not turned round by a reference either", () => {
    expect(of("finished", "&#x202e;turned").text.trim()).toBe("\\u{202e}turned");
  });
});

describe("ordinary Markdown", () => {
  test("keeps its meaning, with headings below those of the page", () => {
    const found = of("finished", PLAN).elements.map(({ tag, text }) => `${tag} ${text.trim()}`);
    for (const wanted of [
      "h3 Plan",
      "strong look",
      "code a.py",
      "ol one",
      "input ",
      "code print(1)",
      "td 1",
      "h6 Deep",
    ]) {
      expect(found).toContain(wanted);
    }
  });

  test("reads the same while it is written and when it is complete", () => {
    const words = (way: Way) => of(way, PLAN).text.replace(/\s+/g, "");
    expect(words("live")).toBe(words("finished"));
  });

  test("loads no picture: it becomes a link, and links open elsewhere", () => {
    const links = of("finished", "![a cat](https://pics.example/cat.png) [x](https://a.example/b)").elements.slice(1);
    expect(links.map(({ tag, text }) => `${tag} ${text}`)).toEqual(["a a cat", "a x"]);
    for (const { attributes } of links) {
      expect(attributes).toMatchObject({ target: "_blank", rel: "noopener noreferrer nofollow" });
    }
  });
});

describe("a tool's output", () => {
  test("has the colours of the theme, the nearest where it has not the very one", () => {
    expect(pieces(of("printed", "\x1b[31mbad\x1b[0m \x1b[1;32mgood\x1b[0m"))).toEqual([
      "span.ansi-red-fg bad",
      "span.ansi-green-fg bold good",
    ]);
    expect(pieces(of("printed", "\x1b[38;5;208morange\x1b[0m\x1b[48;2;0;10;230mblue\x1b[0m"))).toEqual([
      "span.ansi-yellow-fg orange",
      "span.ansi-blue-bg blue",
    ]);
  });

  test("shows the last writing of a line that was written over", () => {
    expect(of("printed", "10%\r50%\r100%\ndone").text).toBe("100%\ndone");
    expect(of("printed", "one\r\ntwo\r\nhalf\r").text).toBe("one\ntwo\nhalf");
  });

  test("cannot turn text around", () => {
    expect(of("printed", "a\u202eb\u2066c\x00d\x08e").text).toBe("abcde");
  });

  test("is not taken away by a sequence that does not end", () => {
    expect(of("printed", "a\x1b]0;title\x07b\x07 \x1b]0;rest of it\nall").text).toBe("ab ]0;rest of it\nall");
  });

  test("is whole however long it is, and a colour lasts until it is taken back", () => {
    const { text, elements } = of("printed", LONG);
    expect(text).toBe(`${"a red line\n".repeat(1_000)}plain ${"and so on\n".repeat(1_000)}`);
    expect(elements.map((one) => one.text).join("")).toBe("a red line\n".repeat(1_000));
  });

  test("may link to the web", () => {
    expect(of("printed", "\x1b]8;;https://a.example/\x07here\x1b]8;;\x07").elements).toMatchObject([
      { tag: "a", text: "here", attributes: { href: "https://a.example/" } },
    ]);
  });
});
