import { expect, test } from "vitest";
import { readAddress, isLoopback, hidePassword } from "../../src/fleet/address.js";
import { ExpectedError } from "../../src/engine/lib/errors.js";

test("an address has host, port, TLS, user, password and database, and is shown without who we are", () => {
  expect(readAddress("rediss://lab:s%40cret@queue.lab:7000/3", false)).toEqual({
    host: "queue.lab",
    port: 7000,
    tls: true,
    username: "lab",
    password: "s@cret",
    db: 3,
    publicText: "rediss://queue.lab:7000",
  });
  expect(readAddress("redis://127.0.0.1", false)).toEqual({
    host: "127.0.0.1",
    port: 6379,
    tls: false,
    db: 0,
    publicText: "redis://127.0.0.1:6379",
  });
  expect(readAddress("redis://[::1]:6380/", false)).toMatchObject({ host: "::1", port: 6380 });
});

test.each([
  "queue.lab:6379",
  "http://queue.lab",
  "redis://",
  "rediss://queue.lab:99999",
  "rediss://queue.lab/keys",
  "rediss://queue.lab?x=1",
  "rediss://u:%zz@queue.lab",
  "",
])("'%s' is no address: exit code 2, and no password in the message", (text) => {
  const problem = (): unknown => {
    try {
      return readAddress(text, true);
    } catch (error) {
      return error;
    }
  };
  expect(problem()).toBeInstanceOf(ExpectedError);
  expect(problem()).toMatchObject({ exitCode: 2 });
  expect(String(problem())).not.toContain("%zz");
});

test("without TLS only this machine is taken, unless a person allows it", () => {
  expect(() => readAddress("redis://queue.lab:6379", false)).toThrow("--insecure-redis");
  expect(() => readAddress("redis://10.0.0.1:6379", false)).toThrow("rediss://");
  expect(readAddress("redis://queue.lab:6379", true).tls).toBe(false);
  expect(["localhost", "127.8.9.1", "::1"].map(isLoopback)).toEqual([true, true, true]);
  expect(["127.0.0.1.evil.org", "localhost.evil.org", "0.0.0.0"].map(isLoopback)).toEqual([false, false, false]);
});

test("a password is not shown, also of an address that is none", () => {
  expect(hidePassword("rediss://user:geheim@queue.lab:1")).toBe("rediss://…@queue.lab:1");
  expect(hidePassword("redis://:a@b@host")).toBe("redis://…@host");
  expect(hidePassword("user:pw@host:6379")).toBe("…@host:6379");
  expect(hidePassword("redis://:one\ntwo@host")).toBe("redis://…@host");
  expect(hidePassword("redis//:a/b@c@host/0")).toBe("…@host/0");
  expect(hidePassword("redis://host:1/0")).toBe("redis://host:1/0");
});
