import { createHash, timingSafeEqual } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import { getCookie, setCookie } from "hono/cookie";

/** What a request must show before anything is answered. */
export interface Guard {
  /** Stands in the address that the command prints, and afterwards in a cookie. */
  readonly token: string;
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

/**
 * Lets through what comes from the browser of the person who started the command. In this order: the `Host` must be
 * ours (421), so that no name that somebody points at 127.0.0.1 reads anything; what changes something must come from
 * our own pages by its `Origin` (403); the token must stand in the cookie (401). In the address it is taken once: it
 * goes into the cookie, and the browser is sent to the address without it.
 */
export const guarded =
  ({ token, port }: Guard): MiddlewareHandler =>
  async (context, next) => {
    for (const [name, value] of Object.entries(headers)) context.header(name, value);
    const { req } = context;
    const host = req.header("host") ?? "";
    if (host !== `127.0.0.1:${port()}` && host !== `localhost:${port()}`)
      return context.text("This page is served to 127.0.0.1 and localhost alone.\n", 421);
    const isRead = req.method === "GET" || req.method === "HEAD";
    if (!isRead && req.header("origin") !== `http://${host}`)
      return context.text("Only the page itself may change something.\n", 403);
    const given = req.query("token");
    if (given !== undefined && isRead && isSame(given, token)) {
      setCookie(context, cookieName(port()), token, { httpOnly: true, sameSite: "Strict", path: "/" });
      // One slash: two would lead to another host.
      return context.redirect(`/${req.path.replace(/^\/+/, "")}`, 303);
    }
    if (!isSame(getCookie(context, cookieName(port())) ?? "", token))
      return context.text("Open the address that the command printed: it contains a token.\n", 401);
    return next();
  };

const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
