// Preloaded into a run (node --import): adds up what the loop does between two runs of its agent, and prints it as JSON
// to the file RR_TRACE names. Waiting for the disk overlaps, so the parts may come to more than the whole.
import childProcess from "node:child_process";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { performance } from "node:perf_hooks";

const parts = new Map();
const add = (name, took) => {
  const part = parts.get(name) ?? { calls: 0, ms: 0 };
  part.calls += 1;
  part.ms += took;
  parts.set(name, part);
};

const timed = (name, work) =>
  function (...args) {
    const from = performance.now();
    const result = work.apply(this, args);
    if (typeof result?.then !== "function") {
      add(name, performance.now() - from);
      return result;
    }
    return result.finally(() => add(name, performance.now() - from));
  };

const kinds = {
  stat: ["lstat", "stat", "access", "realpath"],
  list: ["readdir", "opendir"],
  open: ["open"],
  rename: ["rename", "link", "unlink", "rm"],
  read: ["readFile"],
  write: ["writeFile", "appendFile", "copyFile"],
  folder: ["mkdir", "chmod"],
  fsync: ["fsync"],
};
for (const [name, methods] of Object.entries(kinds))
  for (const method of methods) {
    if (typeof fs.promises[method] === "function") fs.promises[method] = timed(name, fs.promises[method]);
    const sync = `${method}Sync`;
    if (typeof fs[sync] === "function") fs[sync] = timed(`${name} (sync)`, fs[sync]);
  }
const { fsync } = fs;
fs.fsync = (file, done) => {
  const from = performance.now();
  fsync(file, (...answer) => {
    add("fsync", performance.now() - from);
    done(...answer);
  });
};
fs.existsSync = timed("stat (sync)", fs.existsSync);
const probe = await fs.promises.open(process.execPath, "r");
const handle = Object.getPrototypeOf(probe);
await probe.close();
for (const [method, name] of Object.entries({
  sync: "fsync",
  writeFile: "write",
  read: "read",
  readFile: "read",
  stat: "stat",
  close: "close",
  chmod: "folder",
}))
  handle[method] = timed(name, handle[method]);
JSON.parse = timed("JSON.parse", JSON.parse);
JSON.stringify = timed("JSON.stringify", JSON.stringify);
const { spawn } = childProcess;
childProcess.spawn = (command, ...rest) => {
  const from = performance.now();
  const child = spawn(command, ...rest);
  add("spawn (sync)", performance.now() - from);
  if (String(command).endsWith("git")) child.once("close", () => add("git", performance.now() - from));
  return child;
};
syncBuiltinESMExports();
process.once("exit", () =>
  fs.writeFileSync(process.env.RR_TRACE, JSON.stringify({ cpu: process.cpuUsage(), parts: Object.fromEntries(parts) })),
);
