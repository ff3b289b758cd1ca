import type { AgentEvent } from "../../generated/event.js";
import { given } from "../../lib/given.js";

const maxLabel = 90;
const maxSteps = 24;
const maxSaid = 420;

/** What an agent did with a tool, and how often. */
interface Step {
  readonly kind: StepKind;
  readonly label: string;
  /** Stands for all that the tool was asked, of which the label may show a part. */
  readonly key?: string;
  readonly times: number;
  /** How often since something new was last written: to run a test again after a change is not a repetition. */
  readonly row: number;
}

type StepKind = "read" | "write" | "command" | "plan";

/** What one agent did and said, folded from its events into bounded space. */
export interface Digest {
  /** The first thing it said. */
  readonly first: string;
  /** The last thing it said. */
  readonly last: string;
  /** Different things it did, in the order of their last time; of very many the latest. */
  readonly steps: readonly Step[];
  /** How many it did of each kind, repetitions included. */
  readonly counts: Readonly<Record<StepKind, number>>;
  /** How often it did the same thing with nothing new written in between, of each kind the most. */
  readonly repeated: Readonly<Record<StepKind, number>>;
  /** How often it made the same edit, the most of them: what is made again was undone. */
  readonly remade: number;
}

const none = { read: 0, write: 0, command: 0, plan: 0 };
export const emptyDigest: Digest = { first: "", last: "", steps: [], counts: none, repeated: none, remade: 0 };

/** The digest after one more event. Pure; its cost does not grow with what came before. */
export function digestOf(digest: Digest, event: AgentEvent): Digest {
  if (event.type === "tool") {
    const { name, detail, key } = event;
    const kind = kindOfTool(name, detail);
    const did = { kind, label: oneLine(`${name} ${detail}`, maxLabel), ...given({ key }) };
    return stepped(digest, did, edits.test(name));
  }
  const text = event.type === "text" ? event.text : event.type === "end" ? event.message : "";
  const said = oneLine(text, maxSaid);
  if (said === "") return digest;
  const spoken = { ...digest, first: digest.first === "" ? said : digest.first, last: said };
  // The last message comes once more as the end.
  return event.type === "text" && announces(said)
    ? stepped(spoken, { kind: "plan", label: oneLine(said, maxLabel) })
    : spoken;
}

function stepped(digest: Digest, did: Pick<Step, "kind" | "label" | "key">, edits?: boolean): Digest {
  const { kind, label, key } = did;
  // A file that is written whole again and again is the same, whatever is in it.
  const isWhole = kind === "write" && !edits;
  const known = digest.steps.find(
    (step) => step.kind === kind && step.label === label && (isWhole || step.key === key),
  );
  const step = { ...did, times: (known?.times ?? 0) + 1, row: (known?.row ?? 0) + 1 };
  const isNews = kind === "write" && (known === undefined || key === undefined || known.key !== key);
  const before = digest.steps
    .filter((each) => each !== known)
    .map((each) => (isNews && each.kind !== "write" ? { ...each, row: 0 } : each));
  const counts = { ...digest.counts, [kind]: digest.counts[kind] + 1 };
  const isEdit = kind === "write" && edits && key !== undefined;
  const repeated = isEdit ? digest.repeated : { ...digest.repeated, [kind]: Math.max(digest.repeated[kind], step.row) };
  const remade = isEdit ? Math.max(digest.remade, step.times) : digest.remade;
  return { ...digest, steps: [...before, step].slice(-maxSteps), counts, repeated, remade };
}

const edits = /edit|patch|insert|replace/i;
const writes = /write|edit|create|patch|change|insert|replace|save/i;
const reads = /read|view|open|fetch|search|grep|glob|list|find|get/i;
const plans = /todo|plan|think/i;
/** Commands of a shell that only show something. */
const showing =
  /^(?:[\w./-]*(?:sh|bash|zsh) -l?c ['"]?)?\s*(?:cat|head|tail|less|more|nl|sed -n|grep|rg|ls|wc|find|awk)\b/;

function kindOfTool(name: string, detail: string): StepKind {
  if (plans.test(name)) return "plan";
  // A shell is not a reader for what it is called: what it runs says so.
  if (!/bash|shell|exec|command|terminal|run/i.test(name))
    return writes.test(name) ? "write" : reads.test(name) ? "read" : "command";
  if (/>\s*[\w./'"$-]|\btee\b|apply_patch/.test(detail)) return "write";
  return showing.test(detail) ? "read" : "command";
}

/** Whether somebody says what they are going to do. */
const announces = (said: string): boolean =>
  /^[-*#>\d.)\s]*(?:(?:my|the) plan\b|plan:|step \d|to ?do\b|let me\b|let's\b|next,? i\b|first,? i\b|now,? i\b|i(?:'|’)ll\b|i (?:will|need to|should|am going to)\b|i(?:'|’)m going to\b)/i.test(
    said,
  );

const oneLine = (text: string, most: number): string => {
  // The beginning of a long text says enough; the whole of it may be megabytes.
  const line = text
    .slice(0, most * 4)
    .replace(/\s+/g, " ")
    .trim();
  // A text that is cut ends in "…", so that a secret cut in half can be recognised.
  return line.length > most || text.length > most * 4 ? `${line.slice(0, most - 1)}…` : line;
};

/** The digest in words, at most `maxChars` characters. Empty for an agent that neither did nor said anything. */
export function digestText({ first, last, steps }: Digest, maxChars: number): string {
  const done = new Map<string, number>();
  for (const { kind, label, times } of steps) if (kind !== "plan") done.set(label, (done.get(label) ?? 0) + times);
  const did = [...done].map(([label, times]) => (times === 1 ? label : `${label} (${times} times)`));
  const lines = [
    ...(first === last ? [] : [`Said first: ${first}`]),
    ...(last === "" ? [] : [`Said last: ${last}`]),
    ...(did.length === 0 ? [] : [`Did: ${did.join("; ")}`]),
  ];
  const text = lines.join("\n");
  return text.length > maxChars ? `${text.slice(0, maxChars - 1)}…` : text;
}

/** A text without what differs from one event of its kind to the next: names in quotes, paths, numbers. */
export const withoutNames = (text: string): string =>
  text
    .replace(/"[^"]*"|'[^']*'|`[^`]*`/g, "…")
    .replace(/\/[\w/.-]+/g, "/…")
    .replace(/\d+(?:\.\d+)?/g, "0");
