import { type Markup, markup, trustMarkup } from "../../engine/lib/markup.js";
import type { Page } from "../live-page.js";

/** The addresses of the style sheet and the scripts. */
export const assets = { style: "/page.css", reader: "/reader.js", live: "/live.js", screen: "/screen.js" } as const;

/**
 * The HTML of a whole page. `address`: its address, by which the script follows changes; undefined if the page does not
 * change. `isWide`: whether it has two columns. `script`: the address of another script.
 */
export const pageHtml = (
  { title, parts }: Page,
  {
    address,
    hasHomeLink,
    isWide = false,
    script,
  }: { readonly address?: string; readonly hasHomeLink: boolean; readonly isWide?: boolean; readonly script?: string },
): string =>
  markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex"><title>${title}</title><link rel="icon" href="data:,"><link rel="stylesheet" href="${assets.style}"><script src="${assets.reader}"></script>${address === undefined ? "" : markup`<script src="${assets.live}" defer></script>`}${script === undefined ? "" : markup`<script src="${script}" defer></script>`}</head>
<body class="${isWide ? "live wide" : "live"}"><button type="button" id="theme" class="theme">Light or dark</button><main${address === undefined ? "" : markup` data-at="${address}" data-parts="${JSON.stringify(parts.map(({ id, hash }) => [id, hash]))}"`}>
${hasHomeLink ? markup`<nav class="home"><a href="/">All projects</a></nav>` : ""}<p id="said" class="note" role="status" hidden></p>
${parts.map(({ text }) => trustMarkup(text))}</main></body></html>
`.text;

/** A page with a message. */
export const messagePage = (title: string, says: Markup): string =>
  pageHtml({ title, parts: [] }, { hasHomeLink: true }).replace(
    "</main>",
    () => markup`<header><h1>${title}</h1></header><p>${says}</p></main>`.text,
  );
