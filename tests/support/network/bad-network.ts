import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A network between a program and a server of 127.0.0.1, which can fail as networks do. */
export interface BadNetwork {
  readonly port: number;
  /** How many connections were made through it. */
  made(): number;
  /** Nothing comes through any more, in either direction, and nobody is told; `flow` lets go what was held. */
  stall(): void;
  flow(): void;
  /** Every connection of now is forgotten without a word: its ends wait for ever. New ones work. */
  forget(): void;
  /** Every connection of now is cut; `afterBytes`: at most so many more of what the server says come through before. */
  cut(afterBytes?: number): void;
  close(): Promise<void>;
}

/** The two ends of a connection: the program's and the server's. */
interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  isForgotten: boolean;
  /** How much of what the server says still comes through. */
  left: number;
}

export async function badNetwork(port: number): Promise<BadNetwork> {
  const pairs = new Set<Pair>();
  let [made, isStalled] = [0, false];
  const server = createServer((near) => {
    made += 1;
    const far = connect(port, "127.0.0.1");
    const pair: Pair = { near, far, isForgotten: false, left: Infinity };
    pairs.add(pair);
    const over = (): void => {
      pairs.delete(pair);
      for (const each of [near, far]) each.destroy();
    };
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      if (isStalled) from.pause();
      from.on("data", (bytes: Buffer) => {
        if (pair.isForgotten) return;
        const through = from === far ? bytes.subarray(0, Math.min(bytes.length, pair.left)) : bytes;
        if (from === far) pair.left -= through.length;
        to.write(through);
        if (pair.left <= 0) over();
      });
      from.on("error", over).on("close", () => {
        if (!pair.isForgotten) over();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    made: () => made,
    stall() {
      isStalled = true;
      for (const { near, far } of pairs) for (const each of [near, far]) each.pause();
    },
    flow() {
      isStalled = false;
      for (const { near, far } of pairs) for (const each of [near, far]) each.resume();
    },
    forget() {
      for (const pair of pairs) pair.isForgotten = true;
    },
    cut(afterBytes = 0) {
      for (const pair of pairs)
        if (afterBytes > 0) pair.left = Math.min(pair.left, afterBytes);
        else for (const each of [pair.near, pair.far]) each.destroy();
    },
    async close() {
      for (const { near, far } of pairs) for (const each of [near, far]) each.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
