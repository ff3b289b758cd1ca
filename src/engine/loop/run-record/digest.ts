import type { AgentEvent } from "../../generated/event.js";

const maxLabelChars = 90;
const maxSteps = 24;
const maxSentenceChars = 420;

/** An action of an agent, such as the use of a tool, and how often it occurred. */
interface Step {
  readonly kind: StepKind;
  readonly label: string;
  /** Digest of the whole input of the tool; the label may show only a part of it. */
  readonly key?: string;
  /** The number of times that it occurred. */
  readonly times: number;
  /** As `times`, but counted since the last new write: to run a test again after a change is not a repetition. */
  readonly row: number;
}

type StepKind = "read" | "write" | "command" | "plan";

/** The actions and messages of one agent, reduced from its events; bounded in size. */
export interface Digest {
  /** The first message. */
  readonly first: string;
  /** The last message. */
  readonly last: string;
  /** Different actions, ordered by their last occurrence; only the newest are kept. */
  readonly steps: readonly Step[];
  /** Number of actions of each kind, including repetitions. */
  readonly counts: Readonly<Record<StepKind, number>>;
  /** For each kind: how often its most frequent action occurred without a new write in between. */
  readonly repeated: Readonly<Record<StepKind, number>>;
  /** How often the most frequent edit occurred. An edit can occur again only after it was undone. */
  readonly remade: number;
}

const zeroCounts = { read: 0, write: 0, command: 0, plan: 0 };
export const emptyDigest: Digest = {
  first: "",
  last: "",
  steps: [],
  counts: zeroCounts,
  repeated: zeroCounts,
  remade: 0,
};

/** The digest after one more event. Pure; its cost does not grow with the number of events. */
export function digestWithEvent(digest: Digest, event: AgentEvent): Digest {
  if (event.type === "tool") {
    const { name, detail, key } = event;
    const kind = kindOfTool(name, detail);
    const action = { kind, label: shortLine(`${name} ${detail}`, maxLabelChars), key };
    return withStep(digest, action, editTools.test(name));
  }
  const text = event.type === "text" ? event.text : event.type === "end" ? event.message : "";
  const sentence = shortLine(text, maxSentenceChars);
  if (sentence === "") return digest;
  const withSentence = { ...digest, first: digest.first === "" ? sentence : digest.first, last: sentence };
  // The event `end` contains the last message again.
  return event.type === "text" && announcesWork(sentence)
    ? withStep(withSentence, { kind: "plan", label: shortLine(sentence, maxLabelChars) })
    : withSentence;
}

function withStep(digest: Digest, action: Pick<Step, "kind" | "label" | "key">, usesEditTool?: boolean): Digest {
  const { kind, label, key } = action;
  // Writes of the same whole file count as one action, whatever the content is.
  const isWholeFile = kind === "write" && !usesEditTool;
  const previousStep = digest.steps.find(
    (step) => step.kind === kind && step.label === label && (isWholeFile || step.key === key),
  );
  const step = { ...action, times: (previousStep?.times ?? 0) + 1, row: (previousStep?.row ?? 0) + 1 };
  const isNewContent =
    kind === "write" && (previousStep === undefined || key === undefined || previousStep.key !== key);
  const otherSteps = digest.steps
    .filter((otherStep) => otherStep !== previousStep)
    .map((otherStep) => (isNewContent && otherStep.kind !== "write" ? { ...otherStep, row: 0 } : otherStep));
  const counts = { ...digest.counts, [kind]: digest.counts[kind] + 1 };
  const isEdit = kind === "write" && usesEditTool && key !== undefined;
  const repeated = isEdit ? digest.repeated : { ...digest.repeated, [kind]: Math.max(digest.repeated[kind], step.row) };
  const remade = isEdit ? Math.max(digest.remade, step.times) : digest.remade;
  return { ...digest, steps: [...otherSteps, step].slice(-maxSteps), counts, repeated, remade };
}

const editTools = /edit|patch|insert|replace/i;
const writeTools = /write|edit|create|patch|change|insert|replace|save/i;
const readTools = /read|view|open|fetch|search|grep|glob|list|find|get/i;
const planTools = /todo|plan|think/i;
/** Shell commands that only read. */
const readCommands =
  /^(?:[\w./-]*(?:sh|bash|zsh) -l?c ['"]?)?\s*(?:cat|head|tail|less|more|nl|sed -n|grep|rg|ls|wc|find|awk)\b/;

function kindOfTool(name: string, detail: string): StepKind {
  if (planTools.test(name)) return "plan";
  // The kind of a shell call depends on its command, not on the name of the tool.
  if (!/bash|shell|exec|command|terminal|run/i.test(name))
    return writeTools.test(name) ? "write" : readTools.test(name) ? "read" : "command";
  if (/>\s*[\w./'"$-]|\btee\b|apply_patch/.test(detail)) return "write";
  return readCommands.test(detail) ? "read" : "command";
}

/** Whether a message announces work, such as "Let me read the file". */
const announcesWork = (sentence: string): boolean =>
  /^[-*#>\d.)\s]*(?:(?:my|the) plan\b|plan:|step \d|to ?do\b|let me\b|let's\b|next,? i\b|first,? i\b|now,? i\b|i(?:'|’)ll\b|i (?:will|need to|should|am going to)\b|i(?:'|’)m going to\b)/i.test(
    sentence,
  );

const shortLine = (text: string, maxLength: number): string => {
  // Only the beginning of a long text is used; the text may have megabytes.
  const line = text
    .slice(0, maxLength * 4)
    .replace(/\s+/g, " ")
    .trim();
  // A truncated text ends in "…", so that a truncated secret can be recognised.
  return line.length > maxLength || text.length > maxLength * 4 ? `${line.slice(0, maxLength - 1)}…` : line;
};

/** The digest as text, at most `maxChars` characters. Empty for an agent without actions and messages. */
export function digestText({ first, last, steps }: Digest, maxChars: number): string {
  const timesByLabel = new Map<string, number>();
  for (const { kind, label, times } of steps)
    if (kind !== "plan") timesByLabel.set(label, (timesByLabel.get(label) ?? 0) + times);
  const actions = [...timesByLabel].map(([label, times]) => (times === 1 ? label : `${label} (${times} times)`));
  const lines = [
    ...(first === last ? [] : [`Said first: ${first}`]),
    ...(last === "" ? [] : [`Said last: ${last}`]),
    ...(actions.length === 0 ? [] : [`Did: ${actions.join("; ")}`]),
  ];
  const text = lines.join("\n");
  return text.length > maxChars ? `${text.slice(0, maxChars - 1)}…` : text;
}

/** A text without the parts that vary between similar events: names in quotes, paths, numbers. */
export const withoutNames = (text: string): string =>
  text
    .replace(/"[^"]*"|'[^']*'|`[^`]*`/g, "…")
    .replace(/\/[\w/.-]+/g, "/…")
    .replace(/\d+(?:\.\d+)?/g, "0");
