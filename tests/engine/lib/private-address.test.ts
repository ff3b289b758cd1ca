import type { LookupFunction } from "node:net";
import { Agent, fetch } from "undici";
import { describe, expect, it } from "vitest";
import { isPrivateAddress, lookupWith, lookupPublicAddress } from "../../../src/engine/lib/private-address.js";
import { serve } from "../../fixtures/web-server.js";

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
    "192.0.0.192",
    "168.63.129.16",
    "::ffff:169.254.169.254",
    "[::ffff:a9fe:a9fe]",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::a00:1",
    "64:ff9b:1:fffe::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:4860::5efe:10.0.0.1",
    "2001:4860::200:5efe:7f00:1",
    "100::1",
    "100:0:0:1::1",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "240.0.0.1",
    "2001:2::1",
    "2001:10::1",
    "2001:db8::1",
    "3fff:fff::1",
    "5f00::1",
    "::ffff:198.18.0.1",
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
    "192.0.1.1",
    "168.63.129.17",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2001:4860::5efe:8.8.8.8",
    "64:ff9c::1",
    "::ffff:1.1.1.1",
    "64:ff9b::101:101",
    "2002:101:101::",
    "papers.example",
    "127.papers.example",
  ])("does not hold for %s", (address) => {
    expect(isPrivateAddress(address)).toBe(false);
  });
});

describe("lookupPublicAddress", () => {
  const resolved = (host: string, all: boolean) =>
    new Promise<unknown>((resolve) =>
      lookupPublicAddress(host, { all }, (error, address) => resolve(error?.code ?? address)),
    );

  it("refuses a name that leads to this machine, asked for one address or for all", async () => {
    expect(await resolved("localhost", false)).toBe("EPRIVATE");
    expect(await resolved("localhost", true)).toBe("EPRIVATE");
  });

  it("hands a public address on", async () => {
    expect(await resolved("93.184.215.14", false)).toBe("93.184.215.14");
    expect(await resolved("93.184.215.14", true)).toEqual([{ address: "93.184.215.14", family: 4 }]);
  });
});

describe("a name whose addresses change", () => {
  /** Answers each question with the next of its answers, as a host does that wants to get inside. */
  function rebinding(...answers: readonly (readonly string[])[]) {
    let asked = 0;
    const resolver: LookupFunction = (_, { all }, callback) => {
      const addresses = (answers[asked] ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
      asked += 1;
      if (all === true) callback(null, addresses);
      else callback(null, addresses[0]?.address ?? "", addresses[0]?.family ?? 0);
    };
    return { resolver, count: () => asked };
  }
  const connectedTo = (lookup: LookupFunction, all: boolean) =>
    new Promise<unknown>((resolve) =>
      lookup("papers.example", { all }, (error, address) => resolve(error?.code ?? address)),
    );

  it.each([false, true])(
    "is resolved once a connection: the address that was checked is the one connected to (all: %s)",
    async (all) => {
      const { resolver, count } = rebinding(["93.184.215.14"], ["10.0.0.7"]);
      const lookup = lookupWith(resolver);
      expect(await connectedTo(lookup, all)).toEqual(all ? [{ address: "93.184.215.14", family: 4 }] : "93.184.215.14");
      expect(count()).toBe(1);
      expect(await connectedTo(lookup, all)).toBe("EPRIVATE");
    },
  );

  it("is refused where one of several addresses lies inside, in whatever form", async () => {
    for (const inside of [
      "127.0.0.1",
      "169.254.169.254",
      "::1",
      "fe80::1",
      "::ffff:10.0.0.1",
      "64:ff9b::a00:1",
      "64:ff9b:1::a00:1",
    ]) {
      expect(await connectedTo(lookupWith(rebinding(["93.184.215.14", inside]).resolver), true), inside).toBe(
        "EPRIVATE",
      );
    }
  });

  it("never gets a connection to this machine out of a request", async () => {
    const inside = await serve({ "/": { body: "a secret" } });
    const dispatcher = new Agent({ connect: { lookup: lookupWith(rebinding(["127.0.0.1"], ["127.0.0.1"]).resolver) } });
    try {
      await expect(
        fetch(`http://papers.example:${new URL(inside.origin).port}/`, { dispatcher }),
      ).rejects.toMatchObject({ cause: { code: "EPRIVATE" } });
      expect(inside.requests).toEqual([]);
    } finally {
      await dispatcher.close();
      await inside.close();
    }
  });
});
