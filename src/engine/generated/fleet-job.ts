// Generated from schemas/fleet-job.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * What a coordinator asks a worker to do: one run of one agent. The agent's name is the queue's and stands nowhere in it.
 */
export interface FleetJob {
  /**
   * Version of this format. A worker leaves jobs of another version alone.
   */
  version: 1;
  /**
   * Random id of the coordinator's run.
   */
  run: string;
  brief: {
    /**
     * All that the agent reads on stdin, with the placeholder where the path of its workspace belongs.
     */
    text: string;
    tokens: number;
    prompt?: string;
    /**
     * The placeholder: a random word that stands for the path of the workspace.
     */
    workspace: string;
    access: {
      web: boolean;
      read: boolean;
    };
    temperature?: number;
  };
  /**
   * The regular files of the workspace by name: JSON of base64 texts, gzipped, as base64.
   */
  files: string;
  maxUsd?: number;
  maxMs?: number;
}
