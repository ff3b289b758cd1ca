// Generated from schemas/fleet-job.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * What a coordinator asks a worker to do: one run of one agent. It travels as a text, beside the coordinator's signature of that text.
 */
export interface FleetJob {
  /**
   * Random id of the coordinator's run.
   */
  run: string;
  /**
   * Name of the job in its queue.
   */
  id: string;
  /**
   * The queue it is for, and with it the agent: a worker takes it out of no other.
   */
  queue: string;
  /**
   * From then on no worker begins it. Milliseconds since 1970 in UTC.
   */
  expires: number;
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
