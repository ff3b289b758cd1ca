#!/usr/bin/env node
// Leaves a result.json that is wrong in the way its argument says, and ends as if all were well.
import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { evidence, facts, goodResult, leave, mode, reading, unit } from "./brief.mjs";

const withNovelty = (novelty) => {
  const result = reading();
  return { ...result, scores: { ...result.scores, execution: { ...result.scores.execution, novelty } } };
};

/** What would fetch an image, run a script, hide the rest of a page, pass for an entry of ours, or write to the clipboard of a terminal. */
const marks =
  "\u001b]52;c;ZXZpbA==\u0007\u009b31m\u202eSmall![p](https://evil.example/p.png) [c](javascript:x) <i>\n\n````\n\n# Forged\n\n[r]: file:///x\n\n| a | b |";

const misbehaviours = {
  "marks-in-texts": () => {
    const texts = { question: marks, gaps: [{ text: marks }] };
    const read = { summary: marks, notes: marks, implementations_found: [marks], patterns: [marks.slice(0, 120)] };
    leave(unit.kind === "paper" ? reading(read) : { ...goodResult(), ...texts });
  },
  nothing: () => {},
  half: () => leave(JSON.stringify(reading()).slice(0, 400)),
  empty: () => leave(""),
  huge: () => {
    leave(reading());
    truncateSync("result.json", 200 * 1024 * 1024);
  },
  symlink: () => {
    const elsewhere = join(process.env.HOME, "elsewhere.json");
    writeFileSync(elsewhere, JSON.stringify(reading()));
    symlinkSync(elsewhere, "result.json");
  },
  "hard-link": () => {
    const elsewhere = join(process.env.HOME, "elsewhere.json");
    writeFileSync(elsewhere, JSON.stringify(reading()));
    linkSync(elsewhere, "result.json");
  },
  "linked-workspace": () => {
    const away = join(process.env.HOME, "away");
    const here = process.cwd();
    mkdirSync(away);
    writeFileSync(join(away, "result.json"), JSON.stringify(reading()));
    rmSync(here, { recursive: true });
    symlinkSync(away, here);
  },
  fifo: () => execFileSync("mkfifo", ["result.json"]),
  directory: () => mkdirSync("result.json"),
  "another-paper": () => leave(reading({ unit: "second" })),
  "score-7": () => leave(withNovelty(7)),
  "score-NaN": () => leave(JSON.stringify(withNovelty(0)).replace('"novelty":0', '"novelty":NaN')),
  "score-text": () => leave(withNovelty("5")),
  "all-fabricated": () =>
    leave(
      reading({
        evidence: evidence("It cures every known disease at once.", "Accuracy was 100 percent on all data ever made."),
      }),
    ),
  "fabricated-anew": () => {
    const found = () =>
      `It cured ${Math.floor(Math.random() * 1e9)} patients of ${Math.floor(Math.random() * 1e9)} diseases at once.`;
    leave(reading({ summary: found(), notes: found(), evidence: evidence(found(), found()) }));
  },
  "most-fabricated": () =>
    leave(
      reading({
        evidence: evidence(facts[0], "It cures every known disease at once.", "It runs without any power at all."),
      }),
    ),
  "half-fabricated": () =>
    leave(
      reading({
        evidence: evidence(facts[0], facts[1], "It cures every known disease at once.", "It runs without any power."),
      }),
    ),
  "citations-dropped": () =>
    leave(
      reading({
        evidence: evidence("Earlier work needed an hour for the same task and used four machines.", ...facts),
      }),
    ),
  "score-twice": () => leave(JSON.stringify(withNovelty(1)).replace('"novelty":1', '"novelty":1,"novelty":5')),
  blank: () => leave(reading({ summary: "  \n", notes: "\u200b\u2060" })),
  "a-prototype": () => leave(`{"__proto__":{"polluted":true},${JSON.stringify(reading()).slice(1)}`),
  "a-list": () => leave([reading()]),
  nested: () => leave(JSON.stringify(reading()).replace("{", `{"deep":${"[".repeat(50_000)}${"]".repeat(50_000)},`)),
};

misbehaviours[mode]();
console.log("Done.");
