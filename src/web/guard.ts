import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import { getCookie, setCookie } from "hono/cookie";

/** The data by which requests are checked before they are answered. */
export interface Guard {
  /** The one-time tokens in addresses. */
  readonly entryTokens: EntryTokens;
  /** The cookie value of a browser that came with a valid token. */
  readonly session: string;
  /** The port of the page. */
  port(): number;
}

/**
 * Allows only scripts, styles and pictures of this server. No other page may embed these pages, and no form may be sent
 * to another server. The pages have neither inline scripts nor inline styles.
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
  // With `no-referrer`, a browser would send "Origin: null" with the forms of these pages.
  "Referrer-Policy": "same-origin",
};

/** The name contains the port, because cookies are shared by all ports of a host. */
const cookieName = (port: number): string => `research-ralph-${port}`;

/** Tokens for the addresses that the user gets. Only the last issued token is valid, and only for one browser. */
export interface EntryTokens {
  /** Issues a new token. An unused earlier token becomes invalid. */
  issue(): string;
  /** Uses a token. `in`: it was valid; `used`: it was used or replaced; `unknown`: it was never issued. */
  use(token: string): "in" | "used" | "unknown";
}

export function createEntryTokens(): EntryTokens {
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
    use(token) {
      if (currentToken !== undefined && areEqual(token, currentToken)) {
        retire();
        return "in";
      }
      return oldTokens.some((oldToken) => areEqual(token, oldToken)) ? "used" : "unknown";
    },
  };
}

/** A random token of 192 bits, in characters for an address. */
export const newToken = (): string => randomBytes(24).toString("base64url");

/**
 * Accepts only requests from the browser of the user who started the command. It checks in this order: the `Host` must
 * be the host of this server (421), so that no other name for 127.0.0.1 can be used; a request that changes something
 * must have the `Origin` of this server (403); the cookie must contain the session (401). A token in the address is
 * valid once: the browser gets the cookie and is redirected to the address without the token. If a browser uses the
 * same token later, for example from a history or a log, the answer says how to get a new address (403).
 */
export const guardRequests =
  ({ entryTokens, session, port }: Guard): MiddlewareHandler =>
  async (context, next) => {
    for (const [name, value] of Object.entries(headers)) context.header(name, value);
    const { req } = context;
    const host = req.header("host") ?? "";
    if (host !== `127.0.0.1:${port()}` && host !== `localhost:${port()}`)
      return context.text("This page is served to 127.0.0.1 and localhost only.\n", 421);
    const isRead = req.method === "GET" || req.method === "HEAD";
    if (!isRead && req.header("origin") !== `http://${host}`)
      return context.text("Only the page itself may change something.\n", 403);
    const isKnown = areEqual(getCookie(context, cookieName(port())) ?? "", session);
    // A HEAD request, for example of a link preview, must not use up the token.
    const token = req.method === "GET" ? req.query("t") : undefined;
    const tokenState = token === undefined ? "unknown" : entryTokens.use(token);
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

const areEqual = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
