import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import { isIP } from "node:net";

// Tests reach this machine only: any other name can't be resolved, as on a machine without a network.
const { lookup } = dns;
const { lookup: lookupPromise } = dns.promises;
const mayResolve = (host: string) => host === "localhost" || isIP(host) !== 0;
const notFound = (host: string) =>
  Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}: tests reach this machine only`), {
    code: "ENOTFOUND",
    syscall: "getaddrinfo",
    hostname: host,
  });

function lookupHere(host: string, ...rest: unknown[]): void {
  if (mayResolve(host)) return void Reflect.apply(lookup, dns, [host, ...rest]);
  const done = rest.at(-1) as (error: Error) => void;
  process.nextTick(done, notFound(host));
}

async function lookupPromiseHere(host: string, ...rest: unknown[]): Promise<unknown> {
  if (!mayResolve(host)) throw notFound(host);
  return await Reflect.apply(lookupPromise, dns.promises, [host, ...rest]);
}

Object.assign(dns, { lookup: Object.assign(lookupHere, lookup) });
Object.assign(dns.promises, { lookup: lookupPromiseHere });
syncBuiltinESMExports();
