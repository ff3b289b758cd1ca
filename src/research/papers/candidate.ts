/** A paper that a source offers; screening decides whether it enters the pool. */
export interface Candidate {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  readonly pdf_url: string | null;
  readonly authors: readonly string[];
  /** YYYY, YYYY-MM or YYYY-MM-DD. */
  readonly date: string | null;
  readonly source: string;
  readonly abstract: string | null;
  readonly identifiers?: { readonly doi?: string; readonly arxiv?: string };
  readonly retracted?: boolean;
}

/** What is known of one paper. `empty`: the source answered and does not know it. The failures say nothing about the paper. */
export type Described =
  | { readonly status: "ok"; readonly paper: Candidate }
  | { readonly status: "empty" | "rate_limited" | "blocked" | "error"; readonly reason: string };
