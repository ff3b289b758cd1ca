import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { ExpectedError, hasCode, messageOf } from "../engine/lib/errors.js";
import { type Web, webApp } from "./app.js";
import { newToken, oneTimeTokens } from "./guard.js";

/** A page that is served. */
export interface Served {
  /** What the browser is opened with; the token in it is all that lets anyone in, and lets one browser in. */
  readonly address: string;
  /** An address with a new token, for another browser; one before it that was not opened leads nowhere any more. */
  newAddress(): string;
  /** Ends every connection at once. */
  close(): Promise<void>;
}

const host = "127.0.0.1";

/**
 * Serves the local page on 127.0.0.1. `port`: 0 for a free one.
 * @throws ExpectedError (exit code 1) for a port that is in use or may not be used.
 */
export async function serveWeb(web: Omit<Web, "entry" | "session" | "port">, wanted: number): Promise<Served> {
  const entry = oneTimeTokens();
  let port = wanted;
  const app = webApp({ ...web, entry, session: newToken(), port: () => port });
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  await new Promise<void>((done, failed) => {
    server.once("error", failed);
    server.listen(wanted, host, done);
  }).catch((error: unknown) => {
    if (hasCode(error, "EADDRINUSE"))
      throw new ExpectedError(`Port ${wanted} of ${host} is in use; name another with --port, or leave it out.`);
    throw new ExpectedError(`Port ${wanted} of ${host} can't be used: ${messageOf(error)}. Name another with --port.`);
  });
  const address = server.address();
  port = typeof address === "object" && address !== null ? address.port : wanted;
  const newAddress = () => `http://${host}:${port}/?token=${entry.issue()}`;
  return {
    address: newAddress(),
    newAddress,
    async close() {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      await Promise.all([closed, app.close()]);
    },
  };
}
