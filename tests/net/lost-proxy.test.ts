import { expect, it } from "vitest";
import { unreachableProxy } from "../../src/net/lost-proxy.js";

const refused = (address: string, port: number) =>
  Object.assign(new Error("connect"), { code: "ECONNREFUSED", address, port });
const unknown = (hostname: string) => Object.assign(new Error("getaddrinfo"), { code: "ENOTFOUND", hostname });

it("names the proxy that is not there, and no host that is itself not there", () => {
  const env = { HTTPS_PROXY: "http://ada:secret@proxy.lab:3128", http_proxy: "http://127.0.0.1", no_proxy: "x" };
  expect(unreachableProxy(refused("10.0.0.7", 3128), env)).toBe("HTTPS_PROXY (proxy.lab:3128)");
  expect(unreachableProxy(unknown("proxy.lab"), env)).toBe("HTTPS_PROXY (proxy.lab:3128)");
  expect(unreachableProxy(new AggregateError([refused("::1", 3128), refused("127.0.0.1", 80)]), env)).toBe(
    "HTTPS_PROXY (proxy.lab:3128)",
  );
  expect(unreachableProxy(refused("127.0.0.1", 80), env)).toBe("http_proxy (127.0.0.1)");
  for (const error of [refused("10.0.0.7", 443), refused("10.0.0.7", 80), unknown("example.org"), new Error("x")])
    expect(unreachableProxy(error, env)).toBeUndefined();
  expect(unreachableProxy(refused("127.0.0.1", 80), { HTTPS_PROXY: "none" })).toBeUndefined();
});
