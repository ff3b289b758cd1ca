import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import { getCookie, setCookie } from "hono/cookie";

/** What a request must show before anything is answered. */
export interface Guard {
  /** Tokens for addresses. Each is taken once. */
  readonly entry: Entry;
  /** Stands in the cookie of a browser that came with a token. */
  readonly session: string;
  /** The port that the page is served at. */
  port(): number;
}

/**
 * No script, style or picture but ours, no frame around it, no form that leads elsewhere. The pages have no inline
 * script or style at all.
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

/** Cookies don't know ports, so that two of these pages on one machine need two names. */
const cookieName = (port: number): string => `research-ralph-${port}`;

/** Tokens that stand in the addresses a person is given. The last one that was issued lets one browser in. */
export interface Entry {
  /** A new token; one before it that nobody has used lets nobody in any more. */
  issue(): string;
  /** Takes a token: whether it lets a browser in, did so once or was replaced, or was never issued. */
  take(token: string): "in" | "used" | "unknown";
}

export function oneTimeTokens(): Entry {
  const former: string[] = [];
  let current: string | undefined;
  const retire = () => {
    if (current !== undefined) former.push(current);
    current = undefined;
  };
  return {
    issue() {
      retire();
      current = newToken();
      return current;
    },
    take(token) {
      if (current !== undefined && isSame(token, current)) {
        retire();
        return "in";
      }
      return former.some((each) => isSame(token, each)) ? "used" : "unknown";
    },
  };
}

/** 192 bits that nobody guesses, as an address may hold them. */
export const newToken = (): string => randomBytes(24).toString("base64url");

/**
 * Lets through what comes from the browser of the person who started the command. In this order: the `Host` must be
 * ours (421), so that no name that somebody points at 127.0.0.1 reads anything; what changes something must come from
 * our own pages by its `Origin` (403); the cookie must be ours (401). A token in the address is taken once: that
 * browser gets the cookie, and is sent to the address without the token. Another browser that comes with it later, such
 * as one of somebody who found it in a history or a log, is told how the person gets a new one (403).
 */
export const guarded =
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
    // Anyone who only asks for the headers, as a preview does, must not take the token from the person.
    const given = req.method === "GET" ? req.query("token") : undefined;
    const taken = given === undefined ? "unknown" : entry.take(given);
    if (taken === "in" || (taken === "used" && isKnown)) {
      if (!isKnown) setCookie(context, cookieName(port()), session, { httpOnly: true, sameSite: "Strict", path: "/" });
      // One slash: two would lead to another host, and so would a decoded backslash or tab behind it.
      return context.redirect(`/${new URL(req.url).pathname.replace(/^\/+/, "")}`, 303);
    }
    if (isKnown) return next();
    if (taken === "used") return context.text(`${usedUp}\n`, 403);
    return context.text("Open the address that the command printed: it contains a token.\n", 401);
  };

const usedUp =
  "This address was already used, and each address lets in one browser: press Enter in the terminal where 'research-ralph web' runs " +
  "to get a new address, or start that command again.";

const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
