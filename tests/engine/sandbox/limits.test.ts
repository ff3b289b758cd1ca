import { execFileSync } from "node:child_process";
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
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { fixFor } from "../../../src/engine/sandbox/bubblewrap.js";
import { processGroup } from "../../../src/engine/sandbox/limits.js";

/**
 * What the kernel does in a tree of version 2, as seen on Linux 6.18 with a controller that version 1 did not hold: a
 * new group has its own files and those of the controllers that its parent hands on, at once; it goes with them, but
 * not while it has a member. Only here: a group that is no kernel's has no files.
 */
const kernel = vi.hoisted(() => ({ root: "", handsOn: [] as string[], busy: 0 }));
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const isGroup = (path: unknown): path is string =>
    kernel.root !== "" && typeof path === "string" && path.startsWith(`${kernel.root}/`);
  const mkdir = ((path: string, ...options: []) => {
    const made = fs.mkdirSync(path, ...options);
    const own = ["cgroup.procs", "cgroup.events", "cgroup.subtree_control"];
    const controllers = kernel.handsOn.flatMap((name) => [`${name}.max`, `${name}.current`]);
    if (isGroup(path)) for (const name of [...own, ...controllers]) fs.writeFileSync(`${path}/${name}`, "");
    return made;
  }) as typeof fs.mkdirSync;
  const rmdir = ((path: string) => {
    if (isGroup(path) && kernel.busy-- > 0) throw Object.assign(new Error("EBUSY"), { code: "EBUSY" });
    if (isGroup(path)) fs.rmSync(path, { recursive: true });
    else fs.rmdirSync(path);
  }) as typeof fs.rmdirSync;
  return { ...fs, mkdirSync: mkdir, rmdirSync: rmdir };
});

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "limits-"));
});
afterEach(() => {
  Object.assign(kernel, { root: "", handsOn: [], busy: 0 });
  rmSync(folder, { recursive: true, force: true });
});

/** A tree of groups as the kernel shows it; it has a pids.max in every new group only where the controller is on. */
function tree(version: 1 | 2, own = "/"): { root: string; selfFile: string } {
  const root = join(folder, "cgroup");
  mkdirSync(version === 1 ? join(root, "pids", own) : root, { recursive: true });
  writeFileSync(join(folder, "own"), version === 1 ? `12:memory:/\n7:pids:${own}\n0::/\n` : "0::/\n");
  return { root, selfFile: join(folder, "own") };
}

/** Groups of a folder that are no kernel's: the files that it would put into a new one are not there. */
const groupsIn = (parent: string): string[] =>
  existsSync(parent) ? readdirSync(parent).filter((name) => name.startsWith("research-ralph-")) : [];

describe("the group of processes", () => {
  test("is not to be had where the controller is off, and nothing is left of the attempt", () => {
    const found = tree(2);
    expect(processGroup(60, found, true)).toBeUndefined();
    expect(groupsIn(found.root)).toEqual([]);
  });

  test("is only for root: others are counted by a limit of their own", () => {
    expect(processGroup(60, tree(2), false)).toBeUndefined();
  });

  test("of a killed run is removed when the next one begins", () => {
    const found = tree(2);
    mkdirSync(join(found.root, "research-ralph-999999999-x"));
    mkdirSync(join(found.root, `research-ralph-${process.pid}-x`));
    processGroup(60, found, true);
    expect(groupsIn(found.root)).toEqual([`research-ralph-${process.pid}-x`]);
  });

  test("of version 2 is had where the controller is handed on: the program starts as its member, and it goes", async () => {
    const found = tree(2);
    Object.assign(kernel, { root: found.root, handsOn: ["hugetlb", "pids"], busy: 2 });
    const group = processGroup(61, found, true);
    const [name = ""] = groupsIn(found.root);
    expect(readFileSync(join(found.root, name, "pids.max"), "utf8")).toBe("61");
    const [shell = "", ...args] = group?.startCommand ?? [];
    const said = execFileSync(shell, [...args, "/bin/sh", "-c", 'echo "$$ $1"', "sh", "a b"], { encoding: "utf8" });
    expect(said).toBe(`${readFileSync(join(found.root, name, "cgroup.procs"), "utf8").trim()} a b\n`);
    // Its last member has just ended; the kernel takes a moment to see it.
    group?.remove();
    expect(groupsIn(found.root)).toEqual([name]);
    await expect.poll(() => groupsIn(found.root)).toEqual([]);
  });

  test("of version 2 beside version 1 is had where only the second tree has the controller", () => {
    const found = tree(1);
    const second = join(found.root, "unified");
    mkdirSync(second);
    Object.assign(kernel, { root: second, handsOn: ["pids"] });
    const group = processGroup(61, found, true);
    expect(group?.startCommand.at(-1)).toContain(`${second}/research-ralph-`);
    group?.remove();
    expect([groupsIn(join(found.root, "pids")), groupsIn(second)]).toEqual([[], []]);
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
      const file = group?.startCommand.at(-1)?.replace(/cgroup\.procs$/, "pids.max") ?? "";
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
