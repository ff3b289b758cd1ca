// Generated from schemas/query.schema.json by scripts/generate-types.mjs. Do not edit: change the schema.

/**
 * One line of queries.jsonl: what a source was asked and what it answered, so that the search can be replayed.
 */
export interface QueryLine {
  /**
   * How the line is written; absent: 1.
   */
  format?: number;
  /**
   * When the answer arrived, ISO 8601 in UTC.
   */
  at: string;
  /**
   * The name of the source, otherwise the host.
   */
  source: string;
  method: "GET" | "POST";
  /**
   * Without keys and mail addresses.
   */
  url: string;
  /**
   * Kind of the requested document.
   */
  accept?: string;
  /**
   * SHA-256 of the posted body.
   */
  body_sha256?: string;
  /**
   * Anything but 'ok' and 'not-found' says nothing about the papers.
   */
  status: "ok" | "blocked" | "rate_limited" | "not-found" | "error";
  /**
   * HTTP status of a failure, if there was an answer.
   */
  code?: number;
  /**
   * Why there is no answer.
   */
  reason?: string;
  /**
   * The same request may be answered later.
   */
  transient?: true;
  /**
   * Number of results in the answer, if it is a list.
   */
  results?: number;
  /**
   * Size of the answer, unpacked.
   */
  bytes?: number;
  /**
   * SHA-256 of the answer, the name under which .ralph/http stores it. Answers to tools are stored in the state folder of this machine.
   */
  sha256?: string;
  /**
   * Content-Type of the answer.
   */
  type?: string;
  /**
   * Where the answer came from after redirects.
   */
  answer_url?: string;
  /**
   * tool: an agent asked through a tool during a run. Absent: the run's own search asked. Only the latter is replayed.
   */
  by?: "tool";
  /**
   * confirmed: the source said that the stored answer is still valid.
   */
  from: "network" | "cache" | "confirmed";
  [k: string]: unknown;
}
