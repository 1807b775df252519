/** The one gate through which HTML comes into the page. What is not on a list does not pass. */
import DOMPurify, { type Config } from "dompurify";
import { upright } from "../text/harmless";
import { webLink } from "./links";

const PROSE_TAGS =
  "p br hr h3 h4 h5 h6 strong em s del code pre blockquote ul ol li table thead tbody tr th td a input".split(" ");
const FORM: Config = {
  ALLOW_ARIA_ATTR: false,
  ALLOW_DATA_ATTR: false,
  ALLOW_UNKNOWN_PROTOCOLS: false,
};
const PROSE: Config = {
  ...FORM,
  ALLOWED_TAGS: PROSE_TAGS,
  ALLOWED_ATTR: ["href", "align", "start", "type", "checked", "disabled"],
};
const PRINTED: Config = { ...FORM, ALLOWED_TAGS: ["span", "a"], ALLOWED_ATTR: ["class", "href"] };

declare const passed: unique symbol;
/** HTML that has passed. It is no string where the browser enforces trusted types, but may be used as one. */
export type Safe = string & { readonly [passed]: true };

const gate = DOMPurify();
gate.addHook("uponSanitizeElement", (node) => {
  // Only here: a reference such as &#x202e; is a character by now, and no address is changed.
  if (node instanceof Text) node.data = upright(node.data);
});
gate.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") keepLink(node);
  if (node.tagName === "INPUT") keepCheckbox(node);
});

/** HTML made of Markdown, with nothing in it that acts. */
export function purifyProse(html: string): Safe {
  return pass(html, PROSE);
}

/** HTML made of a terminal's output: coloured pieces and links. */
export function purifyPrinted(html: string): Safe {
  return pass(html, PRINTED);
}

function pass(html: string, lists: Config): Safe {
  // The library of DOM types does not know trusted HTML yet.
  return gate.sanitize(html, { ...lists, RETURN_TRUSTED_TYPE: true }) as unknown as Safe;
}

function keepLink(link: Element): void {
  const safe = webLink(link.getAttribute("href") ?? "");
  if (safe === null) {
    link.removeAttribute("href");
    return;
  }
  link.setAttribute("href", safe);
  link.setAttribute("target", "_blank");
  link.setAttribute("rel", "noopener noreferrer nofollow");
}

/** Only the box of a task list, and only to look at. */
function keepCheckbox(input: Element): void {
  if (input.getAttribute("type") !== "checkbox") input.remove();
  else input.setAttribute("disabled", "");
}
