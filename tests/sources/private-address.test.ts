import { describe, expect, it } from "vitest";
import { isPrivateAddress, publicLookup } from "../../src/sources/private-address.js";

describe("isPrivateAddress", () => {
  it.each([
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.0.9",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "[::1]",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "febf::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:a00:1",
    "::7f00:1",
    "::ffff:0:7f00:1",
    "64:ff9b::a00:1",
    "2002:7f00:1::",
  ])("holds for %s", (address) => {
    expect(isPrivateAddress(address)).toBe(true);
  });

  it.each([
    "1.1.1.1",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.0.1",
    "172.32.0.1",
    "192.167.1.1",
    "223.255.255.255",
    "2606:4700::1111",
    "::ffff:1.1.1.1",
    "64:ff9b::101:101",
    "2002:101:101::",
    "papers.example",
    "127.papers.example",
  ])("does not hold for %s", (address) => {
    expect(isPrivateAddress(address)).toBe(false);
  });
});

describe("publicLookup", () => {
  const resolved = (host: string, all: boolean) =>
    new Promise<unknown>((resolve) => publicLookup(host, { all }, (error, address) => resolve(error?.code ?? address)));

  it("refuses a name that leads to this machine, asked for one address or for all", async () => {
    expect(await resolved("localhost", false)).toBe("EPRIVATE");
    expect(await resolved("localhost", true)).toBe("EPRIVATE");
  });

  it("hands a public address on", async () => {
    expect(await resolved("203.0.113.7", false)).toBe("203.0.113.7");
    expect(await resolved("203.0.113.7", true)).toEqual([{ address: "203.0.113.7", family: 4 }]);
  });
});
