import { estimateTokens } from "../../engine/lib/tokens.js";
import { oneLine } from "../../engine/lib/sanitise.js";
import type { Embedder } from "../../memory/embedder.js";
import type { Round } from "../generated/ralph-code.js";
import { openVault, type SimilarFix, type Vault } from "./vault.js";

/** What came of a round, by error signature. */
export interface FixAttempt {
  readonly signatures: readonly { readonly signature: string; readonly success: boolean }[];
  readonly tokens: number;
}

/** What helped against which errors, in the life of the project. */
export interface Fixes {
  /** Fixes that helped against errors like these, a line each; empty where it is missing. */
  recall(signatures: readonly string[]): Promise<string>;
  /** Keeps what a round did about these errors, once the tests have spoken. `run`: names the run. */
  keep(run: string, round: Round, attempt: FixAttempt, framework: string): Promise<void>;
}

/** Most fixes that a brief is told of, and most estimated tokens of them. */
const maxRecalled = 5;
const maxTokens = 1_000;

const languages: Readonly<Record<string, string>> = { pytest: "python", unittest: "python", cargo: "rust", go: "go" };

/**
 * The memory of fixes of the project in `folder`. The file is open only while it is used, so that what an agent does to
 * it meanwhile can be put back. Where it can't be had, nothing is recalled or kept; each problem is told once.
 */
export function fixesIn(folder: string, embedder: Embedder, now: () => number, warn: (message: string) => void): Fixes {
  const told = new Set<string>();
  const tell = (message: string) => {
    if (!told.has(message)) warn(message);
    told.add(message);
  };
  async function use<Value>(otherwise: Value, work: (vault: Vault) => Promise<Value>): Promise<Value> {
    const vault = await openVault(folder, embedder, tell);
    if (typeof vault === "string") {
      tell(`${vault} The run goes on without it.`);
      return otherwise;
    }
    try {
      return await work(vault);
    } catch (error) {
      tell(
        `The memory of fixes can't be used (${error instanceof Error ? error.message : String(error)}); the run goes on without it.`,
      );
      return otherwise;
    } finally {
      await vault.close();
    }
  }
  return {
    recall: (signatures) =>
      use("", async (vault) => {
        const lines: string[] = [];
        let used = 0;
        for (const fix of await vault.similar(signatures, maxRecalled)) {
          const line = lineOf(fix);
          used += estimateTokens(line) + 1;
          if (used > maxTokens) break;
          lines.push(line);
        }
        return lines.join("\n");
      }),
    keep: (run, { round, hypothesis = "", action_taken = "" }, { signatures, tokens }, framework) =>
      use(undefined, async (vault) => {
        const timestamp = new Date(now()).toISOString();
        const of = { hypothesis, action_taken, timestamp, cost_tokens: tokens, framework };
        const language = languages[framework] ?? (framework === "command" ? "" : "javascript");
        await vault.add(
          signatures.map(({ signature, success }) => ({
            ...{ ...of, language, success, error_signature: signature },
            key: `${run}/${round}/${signature}`,
          })),
        );
      }),
  };
}

const lineOf = ({ error_signature, hypothesis, action_taken }: SimilarFix): string =>
  `- ${oneLine(error_signature).slice(0, 160)}: ${oneLine(hypothesis).slice(0, 200)} Helped: ${oneLine(action_taken).slice(0, 300)}`;
