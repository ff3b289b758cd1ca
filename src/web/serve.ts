import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { ExpectedError, hasCode, messageOf } from "../engine/lib/errors.js";
import { type WebOptions, webApp } from "./app.js";
import { newToken, oneTimeTokens } from "./guard.js";

/** A running server of the pages. */
export interface ServedPage {
  /** The address for the browser. Its token is needed for access, and is valid for one browser. */
  readonly address: string;
  /** An address with a new token, for another browser. An unused earlier address becomes invalid. */
  newAddress(): string;
  /** Closes every connection at once. */
  close(): Promise<void>;
}

const host = "127.0.0.1";

/**
 * Serves the local pages on 127.0.0.1. `requestedPort`: 0 for a free port.
 * @throws ExpectedError (exit code 1) if the port is in use or not allowed.
 */
export async function serveWeb(
  web: Omit<WebOptions, "entry" | "session" | "port">,
  requestedPort: number,
): Promise<ServedPage> {
  const entry = oneTimeTokens();
  let port = requestedPort;
  const app = webApp({ ...web, entry, session: newToken(), port: () => port });
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  await new Promise<void>((done, failed) => {
    server.once("error", failed);
    server.listen(requestedPort, host, done);
  }).catch((error: unknown) => {
    if (hasCode(error, "EADDRINUSE"))
      throw new ExpectedError(`Port ${requestedPort} of ${host} is in use; name another with --port, or leave it out.`);
    throw new ExpectedError(
      `Port ${requestedPort} of ${host} can't be used: ${messageOf(error)}. Name another with --port.`,
    );
  });
  const address = server.address();
  port = typeof address === "object" && address !== null ? address.port : requestedPort;
  const newAddress = () => `http://${host}:${port}/?t=${entry.issue()}`;
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
