import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import { getCookie, setCookie } from "hono/cookie";

/** What a request needs to be answered. */
export interface Guard {
  /** The one-time tokens in addresses. */
  readonly entry: EntryTokens;
  /** The cookie value of a browser that came with a valid token. */
  readonly session: string;
  /** The port of the page. */
  port(): number;
}

/**
 * Allows only our own scripts, styles and pictures. No other page may embed ours, and no form may lead elsewhere. The
 * pages have neither inline scripts nor inline styles.
 */
const contentPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const headers: Readonly<Record<string, string>> = {
  "Content-Security-Policy": contentPolicy,
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
  // `no-referrer` would make a browser send "Origin: null" with our own forms.
  "Referrer-Policy": "same-origin",
};

/** The name contains the port, because cookies are shared by all ports of a host. */
const cookieName = (port: number): string => `research-ralph-${port}`;

/** Tokens for the addresses that are given to a person. Only the last issued token is valid, for one browser. */
export interface EntryTokens {
  /** Issues a new token. An unused earlier token becomes invalid. */
  issue(): string;
  /** Uses a token. `in`: it was valid; `used`: it was used or replaced; `unknown`: it was never issued. */
  take(token: string): "in" | "used" | "unknown";
}

export function oneTimeTokens(): EntryTokens {
  const oldTokens: string[] = [];
  let currentToken: string | undefined;
  const retire = () => {
    if (currentToken !== undefined) oldTokens.push(currentToken);
    currentToken = undefined;
  };
  return {
    issue() {
      retire();
      currentToken = newToken();
      return currentToken;
    },
    take(token) {
      if (currentToken !== undefined && isSame(token, currentToken)) {
        retire();
        return "in";
      }
      return oldTokens.some((oldToken) => isSame(token, oldToken)) ? "used" : "unknown";
    },
  };
}

/** A random token of 192 bits, in characters for an address. */
export const newToken = (): string => randomBytes(24).toString("base64url");

/**
 * Accepts only requests from the browser of the person who started the command. It checks in this order: the `Host`
 * must be ours (421), so that another host name for 127.0.0.1 can't be used; a request that changes something must have
 * our `Origin` (403); the cookie must be ours (401). A token in the address is valid once: that browser gets the cookie
 * and is redirected to the address without the token. If another browser uses the same token later, for example from a
 * history or a log, it is told how to get a new address (403).
 */
export const guardRequests =
  ({ entry, session, port }: Guard): MiddlewareHandler =>
  async (context, next) => {
    for (const [name, value] of Object.entries(headers)) context.header(name, value);
    const { req } = context;
    const host = req.header("host") ?? "";
    if (host !== `127.0.0.1:${port()}` && host !== `localhost:${port()}`)
      return context.text("This page is served to 127.0.0.1 and localhost only.\n", 421);
    const isRead = req.method === "GET" || req.method === "HEAD";
    if (!isRead && req.header("origin") !== `http://${host}`)
      return context.text("Only the page itself may change something.\n", 403);
    const isKnown = isSame(getCookie(context, cookieName(port())) ?? "", session);
    // A HEAD request, for example of a link preview, must not use up the token.
    const token = req.method === "GET" ? req.query("t") : undefined;
    const tokenState = token === undefined ? "unknown" : entry.take(token);
    if (tokenState === "in" || (tokenState === "used" && isKnown)) {
      if (!isKnown) setCookie(context, cookieName(port()), session, { httpOnly: true, sameSite: "Strict", path: "/" });
      // Exactly one slash: two slashes would redirect to another host, and so would a decoded backslash or tab.
      return context.redirect(`/${new URL(req.url).pathname.replace(/^\/+/, "")}`, 303);
    }
    if (isKnown) return next();
    if (tokenState === "used") return context.text(`${usedAddressText}\n`, 403);
    return context.text("Open the address that the command printed: it contains a token.\n", 401);
  };

const usedAddressText =
  "This address was already used, and each address lets in one browser: press Enter in the terminal where 'research-ralph web' runs " +
  "to get a new address, or start that command again.";

const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
