import { randomBytes } from "node:crypto";
import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { ExpectedError, hasCode, messageOf } from "../engine/lib/errors.js";
import { type Web, webApp } from "./app.js";

/** A page that is served. */
export interface Served {
  /** What the browser is opened with; the token in it is all that lets anyone in. */
  readonly address: string;
  /** Ends every connection at once. */
  close(): Promise<void>;
}

const host = "127.0.0.1";

/**
 * Serves the local page on 127.0.0.1. `port`: 0 for a free one.
 * @throws ExpectedError (exit code 1) for a port that is in use or may not be used.
 */
export async function serveWeb(web: Omit<Web, "token" | "port">, wanted: number): Promise<Served> {
  const token = randomBytes(24).toString("base64url");
  let port = wanted;
  const app = webApp({ ...web, token, port: () => port });
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
  return {
    address: `http://${host}:${port}/?token=${token}`,
    async close() {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      await Promise.all([closed, app.close()]);
    },
  };
}
