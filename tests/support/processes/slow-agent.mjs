#!/usr/bin/env node
// A command agent that says some lines while it takes its time, and then answers as the baseline agent does. BASELINE: its program.
// WAIT: milliseconds for each of the lines.
import { spawn } from "node:child_process";

const { BASELINE = "", WAIT = "300" } = process.env;
const brief = [];
for await (const piece of process.stdin) brief.push(piece);
for (const line of ["Reads the brief.", "Looks for numbers <b>in the text</b>.", "Weighs the scores."]) {
  console.log(line);
  await new Promise((resolve) => setTimeout(resolve, Number(WAIT)));
}
const agent = spawn(process.execPath, [BASELINE], { stdio: ["pipe", "inherit", "inherit"] });
agent.stdin.end(Buffer.concat(brief));
agent.on("exit", (code) => process.exit(code ?? 1));
