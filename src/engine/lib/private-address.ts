import { lookup as resolveName } from "node:dns";
import { networkInterfaces } from "node:os";
import { BlockList, isIP, type LookupFunction } from "node:net";

/**
 * Networks that are not part of the public internet: the special-purpose addresses of the IANA registries (RFC 6890; as
 * of 2026) that are not globally reachable, multicast, and the metadata hosts of two clouds. A few addresses in
 * 192.0.0.0/24 and 2001::/23 are reachable, but they are only services of routers.
 */
const privateRanges: readonly string[] = [
  // This machine, local networks, carrier-grade NAT, protocol assignments.
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"],
  ...["192.168.0.0/16", "168.63.129.16/32"],
  // Documentation, the old 6to4 relays, benchmarks, multicast, reserved ranges.
  ...["192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3"],
  // This machine, local networks, the old site-local addresses, multicast.
  ...["::/128", "::1/128", "fc00::/7", "fe80::/9", "ff00::/8"],
  // Local translation to IPv4, the discard-only ranges, tunnels and protocol assignments.
  ...["64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23"],
  // Documentation, segment routing.
  ...["2001:db8::/32", "3fff::/20", "5f00::/16"],
];
const privateBlockList = blockList(privateRanges);

function blockList(addressRanges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of addressRanges) {
    const [net = "", prefix] = range.split("/");
    list.addSubnet(net, Number(prefix), net.includes(":") ? "ipv6" : "ipv4");
  }
  return list;
}

/** Whether an IP address without brackets is in `list`, or embeds an IPv4 address that is in `list`. */
function isInList(list: BlockList, address: string): boolean {
  const family = isIP(address);
  const embeddedIpv4 = family === 6 ? ipv4Within(address) : undefined;
  return (
    (family !== 0 && list.check(address, family === 4 ? "ipv4" : "ipv6")) ||
    (embeddedIpv4 !== undefined && list.check(embeddedIpv4, "ipv4"))
  );
}

/** An address without its brackets and without its zone (the name of the interface). */
const bareAddressOf = (address: string): string => address.replace(/^\[|\]$/g, "").split("%", 1)[0] ?? "";

/**
 * Whether an IP address, with or without brackets, belongs to this machine or its local network. Always false for a
 * host name: resolve it first.
 */
export const isPrivateAddress = (address: string): boolean => isInList(privateBlockList, bareAddressOf(address));

/**
 * The IPv4 address in an IPv6 address that is mapped, compatible, translated (64:ff9b::/96), 6to4 (2002::/16) or ISATAP
 * (::5efe:…).
 */
function ipv4Within(address: string): string | undefined {
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const [groupsBefore, groupsAfter] = [head, tail ?? ""].map((part) =>
    part
      .split(":")
      .filter(Boolean)
      .map((group) => Number.parseInt(group, 16)),
  ) as [number[], number[]];
  const groups = [
    ...groupsBefore,
    ...Array.from({ length: 8 - groupsBefore.length - groupsAfter.length }, () => 0),
    ...groupsAfter,
  ];
  const ipv4At = (index: number) =>
    [groups[index] ?? 0, groups[index + 1] ?? 0].flatMap((group) => [group >> 8, group & 255]).join(".");
  if (groups[0] === 0x2002) return ipv4At(1);
  if (groups[5] === 0x5efe && ((groups[4] ?? 0) & 0xfdff) === 0) return ipv4At(6);
  const prefix = groups.slice(0, 6).join(":");
  return ["0:0:0:0:0:0", "0:0:0:0:0:65535", "0:0:0:0:65535:0", `${0x64}:${0xff9b}:0:0:0:0`].includes(prefix)
    ? ipv4At(6)
    : undefined;
}

/** Networks that only this machine can reach: loopback, link-local addresses, and the metadata services of clouds. */
const machineNetworks = blockList([
  ...["0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32"],
  ...["::/127", "fe80::/10", "fd00:ec2::254/128", "fd20:ce::254/128"],
]);

/**
 * Whether an IP address is one of this machine's addresses, or one that only this machine can reach: link-local
 * addresses and the metadata services of clouds. False for other machines of a private network.
 */
export function isOwnAddress(address: string): boolean {
  const bareAddress = bareAddressOf(address);
  if (isIP(bareAddress) === 0) return false;
  if (isInList(machineNetworks, bareAddress)) return true;
  const machineAddresses = Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).map((networkAddress) => networkAddress.address),
  );
  const embeddedIpv4 = isIP(bareAddress) === 6 ? ipv4Within(bareAddress) : undefined;
  return (
    machineAddresses.includes(bareAddress) || (embeddedIpv4 !== undefined && machineAddresses.includes(embeddedIpv4))
  );
}

/** The error code of `lookupPublicAddress` for a name that resolves to a private address. */
export const privateAddressCode = "EPRIVATE";

/**
 * Resolves a host name for a connection, and refuses it if any of its addresses is private. The check is part of the
 * lookup, because a name may resolve to one address in an earlier check and to another at the connection.
 */
export const lookupPublicAddress: LookupFunction = lookupWith(resolveName);

/**
 * Makes a lookup like `lookupPublicAddress` that uses `resolver`. Each connection resolves the name once, and the
 * checked address is used for the connection. `isRefused`: whether an address is refused.
 */
export function lookupWith(resolver: LookupFunction, isRefused = isPrivateAddress): LookupFunction {
  return (hostname, options, callback) => {
    resolver(hostname, { ...options }, (error, address, family) => {
      if (error !== null) return callback(error, address, family);
      const refusedAddress = (Array.isArray(address) ? address.map((entry) => entry.address) : [address]).find(
        isRefused,
      );
      if (refusedAddress === undefined) return callback(null, address, family);
      callback(Object.assign(new Error(`${hostname} is ${refusedAddress}`), { code: privateAddressCode }), "", 0);
    });
  };
}
