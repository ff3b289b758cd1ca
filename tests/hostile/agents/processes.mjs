#!/usr/bin/env node
// Misbehaves as a process, in the way its argument says.
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { goodResult, leave, mode } from "./brief.mjs";

const forever = () => setInterval(() => {}, 1000);
const sleeper = (options) => spawn("sleep", ["600"], { detached: true, ...options }).unref();

const misbehaviours = {
  silent: forever,
  "deaf-to-TERM": () => {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
    forever();
  },
  "holds-stdout": () => sleeper({ stdio: ["ignore", "inherit", "inherit"] }),
  detaches: () => sleeper({ stdio: "ignore" }),
  "daemonises-twice": () => spawn("sh", ["-c", "(setsid sleep 600 &) >/dev/null 2>&1"], { stdio: "ignore" }).unref(),
  "a-family": () => {
    for (let child = 0; child < 50; child++) sleeper({ stdio: "ignore" });
  },
  killed: () => process.kill(process.pid, "SIGKILL"),
  "100000-files": () => {
    for (let folder = 0; folder < 100; folder++) {
      mkdirSync(`files/${folder}`, { recursive: true });
      for (let file = 0; file < 1000; file++) closeSync(openSync(`files/${folder}/${file}`, "w"));
    }
  },
};

leave(goodResult());
misbehaviours[mode]();
console.log("Done.");
