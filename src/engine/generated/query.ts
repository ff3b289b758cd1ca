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
   * When the answer was there, ISO 8601 in UTC.
   */
  at: string;
  /**
   * The source's name, else the host.
   */
  source: string;
  method: "GET" | "POST";
  /**
   * Without keys and mail addresses.
   */
  url: string;
  /**
   * Kind of document that was asked for.
   */
  accept?: string;
  /**
   * SHA-256 of what was posted.
   */
  body_sha256?: string;
  /**
   * Anything but 'ok' and 'not-found' says nothing about the papers.
   */
  status: "ok" | "blocked" | "rate_limited" | "not-found" | "error";
  /**
   * HTTP status of a failure, where there was an answer.
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
   * How many results the answer lists, where it is a list.
   */
  results?: number;
  /**
   * Size of the answer, unpacked.
   */
  bytes?: number;
  /**
   * SHA-256 of the answer, under which .ralph/http keeps it; what a tool asked is kept in the folder of this machine's state.
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
   * An agent asked it through a tool, while a run was at work; without this the run's own search did. Only that is replayed.
   */
  by?: "tool";
  /**
   * confirmed: the source said that the kept answer is still good.
   */
  from: "network" | "cache" | "confirmed";
  [k: string]: unknown;
}
