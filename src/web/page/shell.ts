import { type Markup, markup, trustMarkup } from "../../engine/lib/markup.js";
import type { Page } from "../live-page.js";

/** The addresses of the style sheet and the scripts. */
export const assets = { style: "/page.css", reader: "/reader.js", live: "/live.js", screen: "/screen.js" } as const;

/**
 * A whole page. `at`: its address, with which the script follows changes; undefined if the page does not change.
 * `wide`: it has two columns. `script`: the address of another script.
 */
export const shell = (
  { title, parts }: Page,
  {
    at,
    home,
    wide = false,
    script,
  }: { readonly at?: string; readonly home: boolean; readonly wide?: boolean; readonly script?: string },
): string =>
  markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex"><title>${title}</title><link rel="icon" href="data:,"><link rel="stylesheet" href="${assets.style}"><script src="${assets.reader}"></script>${at === undefined ? "" : markup`<script src="${assets.live}" defer></script>`}${script === undefined ? "" : markup`<script src="${script}" defer></script>`}</head>
<body class="${wide ? "live wide" : "live"}"><button type="button" id="theme" class="theme">Light or dark</button><main${at === undefined ? "" : markup` data-at="${at}" data-parts="${JSON.stringify(parts.map(({ id, hash }) => [id, hash]))}"`}>
${home ? markup`<nav class="home"><a href="/">All projects</a></nav>` : ""}<p id="said" class="note" role="status" hidden></p>
${parts.map(({ text }) => trustMarkup(text))}</main></body></html>
`.text;

/** A page with a message. */
export const messagePage = (title: string, says: Markup): string =>
  shell({ title, parts: [] }, { home: true }).replace(
    "</main>",
    () => markup`<header><h1>${title}</h1></header><p>${says}</p></main>`.text,
  );
