import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fixFor } from "../../../src/engine/sandbox/bubblewrap.js";
import { processGroup } from "../../../src/engine/sandbox/limits.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "limits-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A tree of groups as the kernel shows it; it has a pids.max in every new group only where the controller is on. */
function tree(version: 1 | 2, own = "/"): { groups: string; own: string } {
  const groups = join(folder, "cgroup");
  mkdirSync(version === 1 ? join(groups, "pids", own) : groups, { recursive: true });
  writeFileSync(join(folder, "own"), version === 1 ? `12:memory:/\n7:pids:${own}\n0::/\n` : "0::/\n");
  return { groups, own: join(folder, "own") };
}

/** Groups of a folder that are no kernel's: the files that it would put into a new one are not there. */
const groupsIn = (parent: string): string[] =>
  existsSync(parent) ? readdirSync(parent).filter((name) => name.startsWith("research-ralph-")) : [];

describe("the group of processes", () => {
  test("is not to be had where the controller is off, and nothing is left of the attempt", () => {
    const found = tree(2);
    expect(processGroup(60, found, true)).toBeUndefined();
    expect(groupsIn(found.groups)).toEqual([]);
  });

  test("is only for root: others are counted by a limit of their own", () => {
    expect(processGroup(60, tree(2), false)).toBeUndefined();
  });

  test("of a killed run is removed when the next one begins", () => {
    const found = tree(2);
    mkdirSync(join(found.groups, "research-ralph-999999999-x"));
    mkdirSync(join(found.groups, `research-ralph-${process.pid}-x`));
    processGroup(60, found, true);
    expect(groupsIn(found.groups)).toEqual([`research-ralph-${process.pid}-x`]);
  });

  const real = [
    ["1", "/sys/fs/cgroup/pids"],
    ["2", "/sys/fs/cgroup/unified"],
    ["2", "/sys/fs/cgroup"],
  ] as const;
  const isUsable = (parent: string): boolean => {
    const trial = join(parent, `research-ralph-${process.pid}-trial`);
    try {
      mkdirSync(trial);
      const usable = existsSync(join(trial, "pids.max"));
      // The kernel removes a group's own files with it and lets nobody remove them alone.
      rmdirSync(trial);
      return usable;
    } catch {
      return false;
    }
  };
  test.runIf(process.getuid?.() === 0 && real.some(([, parent]) => isUsable(parent)))(
    "of this machine's kernel holds the number that it was given",
    () => {
      const group = processGroup(61);
      const file = group?.join.at(-1)?.replace(/cgroup\.procs$/, "pids.max") ?? "";
      expect(readFileSync(file, "utf8").trim()).toBe("61");
      group?.remove();
    },
  );
});

describe("what to do where bubblewrap does not start", () => {
  const set = (name: string, value: string): string => {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), `${value}\n`);
    return folder;
  };
  test.each([
    ["kernel/apparmor_restrict_unprivileged_userns", "1", /^AppArmor forbids.*profile bwrap .*userns,.*sysctl/],
    ["kernel/unprivileged_userns_clone", "0", /sysctl kernel\.unprivileged_userns_clone=1/],
    ["user/max_user_namespaces", "0", /sysctl user\.max_user_namespaces=10000/],
    ["kernel/apparmor_restrict_unprivileged_userns", "0", /^Within a container/],
  ])("%s = %s", (name, value, said) => {
    expect(fixFor("setting up uid map: Permission denied", set(name, value))).toMatch(said);
  });

  test("an old one is to be replaced, whatever the kernel says", () => {
    expect(fixFor("Unknown option --disable-userns", set("user/max_user_namespaces", "0"))).toBe(
      "Install bubblewrap 0.8 or newer.",
    );
  });
});
