import { request } from "node:http";
import { basename, join } from "node:path";
import { onTestFinished } from "vitest";
import { systemClock } from "../../src/engine/lib/clock.js";
import { shownWork } from "../../src/commands/inspect/web.js";
import { findWork, listWork } from "../../src/commands/kinds/find-work.js";
import { serveWeb } from "../../src/web/serve.js";
import { fakeIo } from "../engine/ui/fake-io.js";

/** The local page of the projects under a folder, and a browser of it. */
export interface Browser {
  /** The address that a person is given. */
  readonly address: string;
  readonly origin: string;
  /** The cookie that the address gave; sent with each request. */
  readonly cookie: string;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  post(path: string, form?: Record<string, string>, headers?: Record<string, string>): Promise<Response>;
  /** The parts that the page of this address tells of, as they come; `next` waits for a message that `wanted` takes. */
  follow(path: string): Follower;
  readonly warnings: readonly string[];
  newAddress(): string;
  close(): Promise<void>;
}

export interface Follower {
  /** Waits until the ids of the parts, each with its hash, are such. Fails after ten seconds. */
  until(wanted: (parts: ReadonlyMap<string, string>) => boolean): Promise<ReadonlyMap<string, string>>;
  close(): void;
}

/** Serves in this process, ends with the test. */
export async function served(cwd: string, only?: string): Promise<Browser> {
  const warnings: string[] = [];
  const io = fakeIo({ cwd });
  const { address, newAddress, close } = await serveWeb(
    {
      works: async () =>
        (only === undefined ? await listWork(cwd) : [await findWork(cwd, only)]).map((work) => shownWork(work, io)),
      ...(only === undefined ? { root: join(cwd, "researches") } : { onlyName: basename(only) }),
      stateDir: join(cwd, "state"),
      git: false,
      redact: (text) => text.replaceAll("sk-secret", "[secret removed]"),
      now: systemClock.now,
      warn: (message) => void warnings.push(message),
    },
    0,
  );
  onTestFinished(close);
  const origin = new URL(address).origin;
  const entry = await fetch(address, { redirect: "manual" });
  const cookie = entry.headers.get("set-cookie")?.split(";")[0] ?? "";
  return {
    address,
    origin,
    cookie,
    warnings,
    close,
    newAddress,
    get: (path, headers = {}) => fetch(origin + path, { headers: { cookie, ...headers }, redirect: "manual" }),
    post: (path, form = {}, headers = {}) =>
      fetch(origin + path, {
        method: "POST",
        headers: { cookie, origin, ...headers },
        body: new URLSearchParams(form),
        redirect: "manual",
      }),
    follow: (path) => follow(origin + path, cookie),
  };
}

function follow(address: string, cookie: string): Follower {
  let last: ReadonlyMap<string, string> = new Map();
  const waiting = new Set<() => void>();
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  void (async () => {
    const answer = await fetch(address, { headers: { cookie }, signal: ending.signal });
    let text = "";
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk).toString();
      for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
        const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1];
        text = text.slice(end + 2);
        if (data === undefined) continue;
        last = new Map(JSON.parse(data) as [string, string][]);
        for (const look of waiting) look();
      }
    }
  })().catch(() => undefined);
  return {
    close: () => ending.abort(),
    until: (wanted) =>
      new Promise((done, failed) => {
        const timer = setTimeout(() => failed(new Error(`only ${[...last.keys()].join(", ")}`)), 100_000);
        const look = () => {
          if (!wanted(last)) return;
          clearTimeout(timer);
          waiting.delete(look);
          done(last);
        };
        waiting.add(look);
        look();
      }),
  };
}

/** Status and headers of a request whose every header is ours, Host too. */
export const raw = (address: string, path: string, headers: Record<string, string>, method = "GET"): Promise<number> =>
  new Promise((done, failed) => {
    const { port } = new URL(address);
    request({ host: "127.0.0.1", port, path, method, headers }, (answer) => {
      answer.resume();
      done(answer.statusCode ?? 0);
    })
      .on("error", failed)
      .end();
  });
