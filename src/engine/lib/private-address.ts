import { lookup as resolveName } from "node:dns";
import { networkInterfaces } from "node:os";
import { BlockList, isIP, type LookupFunction } from "node:net";

/**
 * Networks that are not the public internet: what the IANA registries of special-purpose addresses (RFC 6890; as of
 * 2026) don't call globally reachable, multicast, and the hosts of two clouds' metadata. Of 192.0.0.0/24 and 2001::/23
 * the few reachable parts are services of routers.
 */
const networks: readonly string[] = [
  // This machine, its neighbours, carriers' own, protocol assignments.
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"],
  ...["192.168.0.0/16", "168.63.129.16/32"],
  // Documentation, the old 6to4 relays, benchmarks; multicast and reserved.
  ...["192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3"],
  // This machine, its neighbours, the old site-local, multicast.
  ...["::/128", "::1/128", "fc00::/7", "fe80::/9", "ff00::/8"],
  // A network's own translation to IPv4, at whatever place the IPv4 address stands in it; discarded; tunnels and
  // assignments to protocols.
  ...["64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23"],
  // Documentation, segment routing.
  ...["2001:db8::/32", "3fff::/20", "5f00::/16"],
];
const blocked = blockList(networks);

function blockList(all: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of all) {
    const [net = "", prefix] = network.split("/");
    list.addSubnet(net, Number(prefix), net.includes(":") ? "ipv6" : "ipv4");
  }
  return list;
}

/** Whether an IP address without brackets is of these networks, or leads to an IPv4 address that is. */
function isOf(list: BlockList, address: string): boolean {
  const family = isIP(address);
  const inner = family === 6 ? ipv4Within(address) : undefined;
  return (
    (family !== 0 && list.check(address, family === 4 ? "ipv4" : "ipv6")) ||
    (inner !== undefined && list.check(inner, "ipv4"))
  );
}

/** An address without its brackets, and without the interface that it is reached by. */
const bareOf = (address: string): string => address.replace(/^\[|\]$/g, "").split("%", 1)[0] ?? "";

/**
 * Whether an IP address, in brackets or not, leads into this machine or its network. A name never does: it has to be
 * resolved first.
 */
export const isPrivateAddress = (address: string): boolean => isOf(blocked, bareOf(address));

/**
 * The IPv4 address that a mapped, compatible, translated (64:ff9b::/96), 6to4 (2002::/16) or ISATAP (::5efe:…) IPv6
 * address leads to.
 */
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

/** This machine, its neighbours on the same wire, and where clouds tell a machine its secrets. */
const ownNetworks = blockList([
  ...["0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32"],
  ...["::/127", "fe80::/10", "fd00:ec2::254/128", "fd20:ce::254/128"],
]);

/**
 * Whether an IP address leads to this machine, by whatever of its addresses, or to what only this machine can reach:
 * link-local ones and the metadata services of clouds. Other machines of a private network are not meant.
 */
export function isOwnAddress(address: string): boolean {
  const bare = bareOf(address);
  if (isIP(bare) === 0) return false;
  if (isOf(ownNetworks, bare)) return true;
  const own = Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map((one) => one.address));
  const inner = isIP(bare) === 6 ? ipv4Within(bare) : undefined;
  return own.includes(bare) || (inner !== undefined && own.includes(inner));
}

/** The code of the error that `publicLookup` gives for a name that leads into this machine or its network. */
export const privateAddressCode = "EPRIVATE";

/**
 * Resolves a name for a connection, and refuses where any of its addresses is private. The check stands here, not
 * before the request, as a name may resolve to one address when it is checked and to another when it is connected to.
 */
export const publicLookup: LookupFunction = lookupThrough(resolveName);

/**
 * As `publicLookup`, by another resolver than this machine's. It is asked once a connection: what it answers is checked
 * and connected to. `isRefused`: which addresses are.
 */
export function lookupThrough(resolver: LookupFunction, isRefused = isPrivateAddress): LookupFunction {
  return (hostname, options, callback) => {
    resolver(hostname, { ...options }, (error, address, family) => {
      if (error !== null) return callback(error, address, family);
      const found = (Array.isArray(address) ? address.map((each) => each.address) : [address]).find(isRefused);
      if (found === undefined) return callback(null, address, family);
      callback(Object.assign(new Error(`${hostname} is ${found}`), { code: privateAddressCode }), "", 0);
    });
  };
}
