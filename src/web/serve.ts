import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { ExpectedError, hasCode, messageOf } from "../engine/lib/errors.js";
import { type WebOptions, createWebApp } from "./app.js";
import { newToken, createEntryTokens } from "./guard.js";

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
  web: Omit<WebOptions, "entryTokens" | "session" | "port">,
  requestedPort: number,
): Promise<ServedPage> {
  const entry = createEntryTokens();
  let port = requestedPort;
  const app = createWebApp({ ...web, entryTokens: entry, session: newToken(), port: () => port });
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(requestedPort, host, resolve);
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
      const closing = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await Promise.all([closing, app.close()]);
    },
  };
}
