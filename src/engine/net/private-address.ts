import { lookup as resolveName } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/** Networks that are not the public internet: this machine, its neighbours, cloud metadata, carriers' own, multicast, reserved. */
const networks: readonly (readonly [string, number, "ipv4" | "ipv6"])[] = [
  ["0.0.0.0", 8, "ipv4"],
  ["10.0.0.0", 8, "ipv4"],
  ["100.64.0.0", 10, "ipv4"],
  ["127.0.0.0", 8, "ipv4"],
  ["169.254.0.0", 16, "ipv4"],
  ["172.16.0.0", 12, "ipv4"],
  ["192.168.0.0", 16, "ipv4"],
  // Protocol assignments, with the metadata of one cloud; the host of another stands amid public addresses.
  ["192.0.0.0", 24, "ipv4"],
  ["168.63.129.16", 32, "ipv4"],
  ["224.0.0.0", 3, "ipv4"],
  ["::", 128, "ipv6"],
  ["::1", 128, "ipv6"],
  ["fc00::", 7, "ipv6"],
  // Link-local and, up to feff, the old site-local.
  ["fe80::", 9, "ipv6"],
  ["ff00::", 8, "ipv6"],
  // A network's own translation to IPv4, at whatever place the IPv4 address stands in it; tunnels to IPv4; discarded.
  ["64:ff9b:1::", 48, "ipv6"],
  ["2001::", 32, "ipv6"],
  ["100::", 64, "ipv6"],
];
const blocked = new BlockList();
for (const [net, prefix, family] of networks) blocked.addSubnet(net, prefix, family);

/** Whether an IP address, in brackets or not, leads into this machine or its network. A name never does: it has to be resolved first. */
export function isPrivateAddress(address: string): boolean {
  const bare = address.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  const family = isIP(bare);
  if (family === 0) return false;
  if (family === 4) return blocked.check(bare, "ipv4");
  const inner = ipv4Within(bare);
  return blocked.check(bare, "ipv6") || (inner !== undefined && blocked.check(inner, "ipv4"));
}

/** The IPv4 address that a mapped, compatible, translated (64:ff9b::/96), 6to4 (2002::/16) or ISATAP (::5efe:…) IPv6 address leads to. */
function ipv4Within(address: string): string | undefined {
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const [before, after] = [head, tail ?? ""].map((part) =>
    part
      .split(":")
      .filter(Boolean)
      .map((group) => Number.parseInt(group, 16)),
  ) as [number[], number[]];
  const groups = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after];
  const dotted = (at: number) =>
    [groups[at] ?? 0, groups[at + 1] ?? 0].flatMap((group) => [group >> 8, group & 255]).join(".");
  if (groups[0] === 0x2002) return dotted(1);
  if (groups[5] === 0x5efe && ((groups[4] ?? 0) & 0xfdff) === 0) return dotted(6);
  const prefix = groups.slice(0, 6).join(":");
  return ["0:0:0:0:0:0", "0:0:0:0:0:65535", "0:0:0:0:65535:0", `${0x64}:${0xff9b}:0:0:0:0`].includes(prefix)
    ? dotted(6)
    : undefined;
}

/** The code of the error that `publicLookup` gives for a name that leads into this machine or its network. */
export const privateAddressCode = "EPRIVATE";

/**
 * Resolves a name for a connection, and refuses where any of its addresses is private. The check stands here, not before the request, as
 * a name may resolve to one address when it is checked and to another when it is connected to.
 */
export const publicLookup: LookupFunction = lookupThrough(resolveName);

/** As `publicLookup`, by another resolver than this machine's. It is asked once a connection: what it answers is checked and connected to. */
export function lookupThrough(resolver: LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    resolver(hostname, { ...options }, (error, address, family) => {
      if (error !== null) return callback(error, address, family);
      const found = (Array.isArray(address) ? address.map((each) => each.address) : [address]).find(isPrivateAddress);
      if (found === undefined) return callback(null, address, family);
      callback(Object.assign(new Error(`${hostname} is ${found}`), { code: privateAddressCode }), "", 0);
    });
  };
}
