// The part of a sandbox that runs inside it, where 127.0.0.1 is the sandbox's own. Plain Node, so that nothing else has
// to be visible there.
//
//   sandbox-relay.mjs run <proxy socket> <ports> <command> [argument…]
//       Listens on the ports (with commas between them), then runs the command and ends as it does. The first port is
//       the proxy itself; any other is that service of the host, reached through the proxy.
//   sandbox-relay.mjs tools <socket>
//       Joins stdin and stdout to a socket: the tool server runs outside.
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { connect, createServer } from "node:net";

const [mode, socket = "", ...rest] = process.argv.slice(2);
const open = () => connect({ path: socket, allowHalfOpen: true });

function join(one, other) {
  one.on("error", () => other.destroy());
  other.on("error", () => one.destroy());
  one.pipe(other);
  other.pipe(one);
}

/** Asks the proxy for a way to a port of the host; what follows its answer belongs to the service. */
function through(client, port) {
  const proxy = open();
  let head = Buffer.alloc(0);
  const onData = (chunk) => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end === -1) return;
    proxy.off("data", onData).pause();
    if (!head.subarray(0, 15).toString("latin1").includes(" 200")) return client.destroy();
    if (head.length > end + 4) client.write(head.subarray(end + 4));
    join(client, proxy);
  };
  proxy.on("data", onData).on("error", () => client.destroy());
  client.on("error", () => proxy.destroy());
  proxy.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
}

const listen = (port, onClient) =>
  new Promise((resolve, reject) => {
    createServer({ allowHalfOpen: true }, onClient).on("error", reject).listen(port, "127.0.0.1", resolve);
  });

/**
 * Puts nothing in the place of stdin, stdout and stderr, which the program has too. Node sets those that it looks at to
 * not block, also at the first `pipe` of two sockets, and what a program says faster than it is read is lost then: it
 * gets EAGAIN, with which Codex ends.
 */
function leaveOutput() {
  for (const descriptor of [0, 1, 2]) {
    closeSync(descriptor);
    openSync("/dev/null", "r+");
  }
}

async function run(ports, command, args) {
  const [own, ...forwarded] = ports.split(",").map(Number);
  await Promise.all([
    listen(own, (client) => join(client, open())),
    ...forwarded.map((port) => listen(port, (client) => through(client, port))),
  ]);
  const child = spawn(command, args, { stdio: "inherit" });
  child.once("spawn", leaveOutput);
  child.on("error", ({ message }) => {
    console.error(message);
    process.exit(127);
  });
  for (const name of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(name, () => child.kill(name));
  child.on("exit", (code, name) => {
    if (name === null) process.exit(code);
    process.removeAllListeners(name);
    process.kill(process.pid, name);
  });
}

if (mode === "run") {
  const [ports, command, ...args] = rest;
  await run(ports, command, args);
} else {
  const server = open();
  server.on("error", () => process.exit(1)).on("close", () => process.exit(0));
  process.stdin.pipe(server);
  server.pipe(process.stdout);
}
