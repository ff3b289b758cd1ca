import { ExpectedError } from "../lib/errors.js";
import { bubblewrap, findBubblewrap } from "./bubblewrap.js";
import type { Sandbox, SandboxChoice, SandboxOptions } from "./sandbox.js";

/** The sandbox, absent if programs run on the host; `explanation`: one sentence for the user about the choice. */
export interface SandboxResult {
  readonly sandbox?: Sandbox;
  readonly explanation: string;
}

/** The result that `doctor` shows for one kind of sandbox. */
export interface SandboxCheck {
  readonly name: "bubblewrap" | "docker";
  readonly ok: boolean;
  readonly detail: string;
  readonly fix?: string;
}

/** Checks both kinds of sandbox. */
export async function checkSandboxes(env: NodeJS.ProcessEnv): Promise<SandboxCheck[]> {
  const { findDocker } = await import("./docker.js");
  const [bubblewrapSearch, dockerSearch] = await Promise.all([findBubblewrap(env), findDocker(env)]);
  return [
    "program" in bubblewrapSearch
      ? { name: "bubblewrap", ok: true, detail: `${bubblewrapSearch.program} can confine agents.` }
      : { name: "bubblewrap", ok: false, detail: sentence(bubblewrapSearch.problem), fix: bubblewrapSearch.fix },
    "client" in dockerSearch
      ? { name: "docker", ok: true, detail: "Docker answers; it can confine agents where there is no bubblewrap." }
      : { name: "docker", ok: false, detail: sentence(dockerSearch.problem), fix: dockerSearch.fix },
  ];
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

const confinementSentence = (name: string): string =>
  `Agents run in ${name}: each sees its workspace and its own program, and reaches its model service and nothing else.`;

/**
 * Opens the sandbox that the user chose. `auto` takes bubblewrap, else Docker, else the host. Throws an ExpectedError
 * (exit code 1) if the chosen sandbox does not work on this machine.
 */
export async function openSandbox(choice: SandboxChoice, options: SandboxOptions): Promise<SandboxResult> {
  if (choice === "host") return { explanation: "Agents run on the host." };
  const problems: { readonly problem: string; readonly fix: string }[] = [];
  if (choice !== "docker") {
    const search = await findBubblewrap(options.env);
    if ("program" in search)
      return { sandbox: bubblewrap(search.program, options), explanation: confinementSentence("bubblewrap") };
    problems.push(search);
  }
  if (choice !== "bubblewrap") {
    // Loaded only if bubblewrap was not chosen or does not work.
    const { docker, findDocker } = await import("./docker.js");
    const search = await findDocker(options.env);
    const bubblewrapProblem = problems.map(({ problem }) => ` (${problem})`).join("");
    if ("client" in search)
      return {
        sandbox: docker(search.client, options),
        explanation: `${confinementSentence("Docker")}${bubblewrapProblem}`,
      };
    problems.push(search);
  }
  const reasons = problems.map(({ problem }) => problem).join(", and ");
  if (choice === "auto")
    return { explanation: `Agents run on the host, because ${reasons}. ${problems[0]?.fix ?? ""}` };
  throw new ExpectedError(`There is no sandbox, because ${reasons}. ${problems[0]?.fix ?? ""}`);
}
