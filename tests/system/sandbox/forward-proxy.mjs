// A forward proxy as a company has one. Whatever is asked for, it asks the service on this port of 127.0.0.1, and says
// on stdout what it was asked. Argument: the port.
import { createServer, request } from "node:http";
import { connect } from "node:net";

const port = Number(process.argv[2]);
const say = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);
const server = createServer((incoming, answer) => {
  const { method, url, headers } = incoming;
  say({ method, url, credentials: headers["proxy-authorization"] ?? null });
  const path = new URL(url).pathname;
  const asked = request({ host: "127.0.0.1", port, method, path, headers }, (found) => {
    answer.writeHead(found.statusCode, found.headers);
    found.pipe(answer);
  });
  asked.on("error", () => answer.destroy());
  incoming.pipe(asked);
});
server.on("connect", ({ method, url, headers }, client, head) => {
  say({ method, url, credentials: headers["proxy-authorization"] ?? null });
  if (url.startsWith("forbidden.")) return client.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
  const there = connect(port, "127.0.0.1", () => {
    client.write("HTTP/1.1 200 OK\r\n\r\n");
    there.write(head);
    there.pipe(client);
    client.pipe(there);
  });
  for (const each of [there, client]) each.on("error", () => each.destroy());
});
server.listen(0, "127.0.0.1", () => say({ listens: server.address().port }));
