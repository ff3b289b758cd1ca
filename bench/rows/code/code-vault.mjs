import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { load } from "../../../scripts/bundle.mjs";
import { inFolder } from "../../measure.mjs";

const words = ["user", "order", "cart", "price", "token", "socket", "parser", "cache", "route", "worker"];

export const row = {
  name: "code-vault",
  what: "memory of fixes: one entry more, those of a test among 1,000, and the size of these",
  hold: "≤ 5 ms; < 50 ms; ≤ 600 KB",
  command: "vault.add([fix]); vault.helped(test, frame)",
  async run() {
    const { vault } = await load({ vault: "src/code/vault/vault.ts" });
    return await inFolder(async (folder) => {
      mkdirSync(join(folder, ".ralph"));
      const opened = await vault.openVault(folder, () => undefined);
      await opened.add(Array.from({ length: 1_000 }, (_, at) => fix(at)));
      const [inserts, queries] = [[], []];
      for (let at = 0; at < 50; at += 1) {
        inserts.push(await timed(() => opened.add([fix(1_000 + at)])));
        queries.push(await timed(() => opened.helped(fix(at * 20).test, "src/prices.ts#priceOf")));
      }
      let hits = 0;
      for (let at = 0; at < 1_000; at += 10) {
        const found = await opened.helped(fix(at).test, "");
        if (found.some(({ action_taken }) => action_taken === fix(at).action_taken)) hits += 1;
      }
      await opened.close();
      const client = createClient({ url: `file:${join(folder, ".ralph/memory.db")}` });
      await client.execute("PRAGMA wal_checkpoint(TRUNCATE)");
      client.close();
      const { size } = statSync(join(folder, ".ralph/memory.db"));
      const median = (all) => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)].toFixed(1);
      return {
        ours: `${median(inserts)} ms; ${median(queries)} ms; ${Math.round(size / 1_050)} KB, ${hits} of 100 found again`,
      };
    });
  },
};

function fix(at) {
  const word = (shift) => words[Math.floor(at / 10 ** shift) % 10];
  return {
    ...{
      key: `run/${at}`,
      run: "run",
      test: `${word(1)} ${at} is read`,
      frame: at % 10 === 0 ? "src/prices.ts#priceOf" : "",
    },
    changed: [
      {
        file: `src/${word(0)}.ts`,
        symbol: word(2),
        lines: [
          [`0123456${at}`, 1, 0],
          [`6543210${at}`, 0, 1],
        ],
      },
    ],
    error_signature: `runtime: Error: ${word(0)} of ${word(1)} is not a ${word(2)} @ src/${word(0)}-${word(2)}.ts`,
    hypothesis: `The ${word(1)} is read before it is there.`,
    action_taken: `Waited for the ${word(1)} ${at} in ${word(0)}.ts before it is used.`,
    success: true,
    timestamp: "2026-01-01T00:00:00.000Z",
    cost_tokens: 1_200,
    framework: "vitest",
    language: "javascript",
  };
}

async function timed(work) {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}
