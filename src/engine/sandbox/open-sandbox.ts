import { ExpectedError } from "../lib/errors.js";
import { bubblewrap, findBubblewrap } from "./bubblewrap.js";
import type { Sandbox, SandboxChoice, SandboxOptions } from "./sandbox.js";

/** A sandbox, or none where programs run on the host; `why`: one sentence for the person who let it be chosen. */
export interface Opened {
  readonly sandbox?: Sandbox;
  readonly why: string;
}

/** What `doctor` says of one kind of sandbox. */
export interface SandboxCheck {
  readonly name: "bubblewrap" | "docker";
  readonly ok: boolean;
  readonly detail: string;
  readonly fix?: string;
}

/** Looks for both kinds of sandbox. */
export async function checkSandboxes(env: NodeJS.ProcessEnv): Promise<SandboxCheck[]> {
  const { findDocker } = await import("./docker.js");
  const [own, engine] = await Promise.all([findBubblewrap(env), findDocker(env)]);
  return [
    "program" in own
      ? { name: "bubblewrap", ok: true, detail: `${own.program} can confine agents.` }
      : { name: "bubblewrap", ok: false, detail: sentence(own.problem), fix: own.fix },
    "client" in engine
      ? { name: "docker", ok: true, detail: "The engine answers; it can confine agents where there is no bubblewrap." }
      : { name: "docker", ok: false, detail: sentence(engine.problem), fix: engine.fix },
  ];
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

const heldBy = (name: string): string =>
  `Agents run in ${name}: each sees its workspace and its own program, and reaches its model service and nothing else.`;

/**
 * Opens the sandbox that a person asked for. `auto` takes bubblewrap, else Docker, else the host. Throws an
 * ExpectedError (exit code 1) where the one that was named does not work here.
 */
export async function openSandbox(choice: SandboxChoice, options: SandboxOptions): Promise<Opened> {
  if (choice === "host") return { why: "Agents run on the host." };
  const problems: { readonly problem: string; readonly fix: string }[] = [];
  if (choice !== "docker") {
    const found = await findBubblewrap(options.env);
    if ("program" in found) return { sandbox: bubblewrap(found.program, options), why: heldBy("bubblewrap") };
    problems.push(found);
  }
  if (choice !== "bubblewrap") {
    // Loaded where it is needed: it is the second choice.
    const { docker, findDocker } = await import("./docker.js");
    const found = await findDocker(options.env);
    const instead = problems.map(({ problem }) => ` (${problem})`).join("");
    if ("client" in found) return { sandbox: docker(found.client, options), why: `${heldBy("Docker")}${instead}` };
    problems.push(found);
  }
  const because = problems.map(({ problem }) => problem).join(", and ");
  if (choice === "auto") return { why: `Agents run on the host, because ${because}. ${problems[0]?.fix ?? ""}` };
  throw new ExpectedError(`There is no sandbox, because ${because}. ${problems[0]?.fix ?? ""}`);
}
