import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";

/**
 * A port of 127.0.0.1 that nobody listens on. The system gives none of these to whoever lets it choose, and makes no
 * connection from them: it is still free when a server is started there a moment later, or started again.
 */
export async function freePort(): Promise<number> {
  const own = systemsOwn();
  for (let tries = 0; tries < 100 && own > 20_000; tries++) {
    const port = await listenOn(own - 1 - Math.floor(Math.random() * 10_000));
    if (port !== undefined) return port;
  }
  return (await listenOn(0)) ?? 0;
}

/** The first of the ports that the system chooses from; 0 where it does not say. */
function systemsOwn(): number {
  try {
    return Number.parseInt(readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8"), 10);
  } catch {
    return 0;
  }
}

async function listenOn(wanted: number): Promise<number | undefined> {
  const server = createServer();
  const listening = once(server, "listening").then(
    () => true,
    () => false,
  );
  server.listen(wanted, "127.0.0.1");
  if (!(await listening)) return undefined;
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
