/**
 * What is kept of a claim: the claim, and the place of the text that its quote points at, where code found it. The
 * records of a project have this shape too (`schemas/rrd.schema.json`, `Evidence`).
 */
export type Evidence = {
  claim: string;
  /** The text's own sentence, of a quote that was found. */
  passage?: string;
  /** The quoted words in the passage: "21-37, 40-61". */
  quoted?: string;
  /** The quote as the agent gave it, where it was not found; in records of earlier versions also where it was. */
  quote?: string;
  /** Numbers of the claim that the quoted words do not hold. */
  numbers?: ClaimedNumber[];
  /** near: the text has the words with a number in another unit or rounded. could-not-check: there was no text. */
  status: "verified" | "near" | "not-in-text" | "could-not-check";
  /** What differs where it is near; why it counts for nothing where it is not in the text. */
  reason?: string | null;
  /** Where the quote stands, such as "p. 4" or "§ 3 Method". */
  locator?: string | null;
  /** Hash of the text that was searched. */
  text_sha256?: string | null;
  about?: Outcome;
};

/** What a claim reports, where it compares two things on one outcome. Kept as it is: no code can check it. */
export type Outcome = {
  outcome: string;
  /** What with what: "A against B". */
  compared: string;
  /** What the outcome does under A; none: no significant difference. */
  direction: "up" | "down" | "none";
};

/** A number as the claim writes it. `in-passage`: in the sentence, outside the quoted words. */
type ClaimedNumber = { number: string; stands: "in-passage" | "nowhere" };

/** A number of a text, with its unit. `in-text`: it stands elsewhere in the text, which is only a hint. */
export type CheckedNumber = {
  number: string;
  status: "verified" | "near" | "in-text" | "not-in-text" | "could-not-check";
  /** What differs, or where it stands. */
  reason?: string | null;
};
