import type { Cheerio, CheerioAPI } from "cheerio";
import { takeOut } from "../text/paper-text.js";

type Element = ReturnType<CheerioAPI> extends Cheerio<infer Node> ? Node : never;

/** Declarations that hide an element from a reader. Menus and banners use them honestly, prompt injections do not. */
const hiding: readonly RegExp[] = [
  /(?:^|;)\s*display\s*:\s*none/i,
  /(?:^|;)\s*visibility\s*:\s*(?:hidden|collapse)/i,
  /(?:^|;)\s*opacity\s*:\s*0(?:\.0\d*)?\s*(?:!|;|$)/i,
  /(?:^|;)\s*font-size\s*:\s*(?:0(?:\.0+)?(?:px|pt|r?em|%)?|0?\.0\d*r?em|0?\.\d+(?:px|pt)|1(?:px|pt))\s*(?:!|;|$)/i,
  /(?:^|;)\s*(?:left|top|right|text-indent|margin-left)\s*:\s*-\d{3,}/i,
  /(?:^|;)\s*(?:height|width)\s*:\s*0(?:px)?\s*(?:!|;|$)/i,
];
const whiteText =
  /(?:^|;)\s*color\s*:\s*(?:#fff(?:fff)?(?:ff)?\b|white\b|rgba?\(\s*25\d\s*,\s*25\d\s*,\s*25\d\b|transparent\b|rgba\([^)]*,\s*0\s*\))/i;
const background =
  /(?:^|;)\s*background(?:-color)?\s*:\s*(?!\s*(?:#fff|white|none|transparent|inherit|initial|rgba?\(\s*25\d))/i;

/** At most so many rules of the page's own style sheets are looked at. */
const maxRules = 3000;

/** Removes what the page does not show, by attribute, style or its own style sheet, and returns its text. */
export function removeHidden(page: CheerioAPI): string {
  applyStyleSheets(page);
  const hidden: string[] = [];
  page("[hidden], [style]").each((_, element) => {
    const node = page(element);
    // Pages that fade in hide their whole body until a script has run.
    if (node.is("html, body, main, article") || node.closest("head").length > 0) return;
    if (node.attr("hidden") === undefined && !isHiding(page, node)) return;
    hidden.push(node.text());
    node.remove();
  });
  return hidden.join(" ").replace(/\s+/g, " ").trim();
}

function isHiding(page: CheerioAPI, node: Cheerio<Element>): boolean {
  const style = node.attr("style") ?? "";
  if (hiding.some((pattern) => pattern.test(style))) return true;
  if (!whiteText.test(style)) return false;
  // White on a dark box is a design; white on nothing is hidden.
  return ![
    node,
    ...node
      .parents()
      .toArray()
      .map((parent) => page(parent)),
  ].some((each) => background.test(each.attr("style") ?? ""));
}

/** Writes simple rules of style elements into the style attributes that they apply to. Rules within @media and the like are left alone. */
function applyStyleSheets(page: CheerioAPI): void {
  const sheets = page("style")
    .toArray()
    .map((element) => page(element).text())
    .join("\n");
  let count = 0;
  for (const [selector, declarations] of topRules(takeOut(sheets, "/*", "*/").text)) {
    if ((count += 1) > maxRules) return;
    const isSimple =
      selector.split(",").every((part) => /^\s*[\w.#\s>-]+\s*$/.test(part)) && /[.#]|\b(?:span|p|div)\b/.test(selector);
    if (
      !isSimple ||
      !(
        hiding.some((pattern) => pattern.test(declarations)) ||
        whiteText.test(declarations) ||
        background.test(declarations)
      )
    )
      continue;
    page(selector).each(
      (_, element) => void page(element).attr("style", `${page(element).attr("style") ?? ""};${declarations}`),
    );
  }
}

/** Selector and declarations of each rule that stands in no @-rule. */
function* topRules(css: string): Generator<[string, string]> {
  let depth = 0;
  let selector = "";
  for (const [piece] of css.matchAll(/[^{}]*[{}]/g)) {
    const content = piece.slice(0, -1).trim();
    if (piece.endsWith("{")) {
      if (depth === 0) selector = content.replace(/^.*;/s, "").trim();
      depth += 1;
    } else if (depth > 0) {
      depth -= 1;
      if (depth === 0 && !selector.startsWith("@")) yield [selector, content];
    }
  }
}
