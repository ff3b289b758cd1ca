import { fileURLToPath } from "node:url";

const program = (path: string) => `cmd:${process.execPath} ${fileURLToPath(new URL(path, import.meta.url))}`;

/** The unit agent as an --agent, for the settings of its environment see its head. */
export const unitAgent = program("./unit-agent.mjs");

/** The agent that edits the research folder itself, for classic mode. */
export const folderAgent = program("./folder-agent.mjs");

/** Arguments that run the unit agent. */
export const withUnitAgent = ["--agent", unitAgent, "--unconfined", "--no-git"] as const;
