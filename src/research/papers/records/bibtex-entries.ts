/** An entry of a .bib file as it is written there, before TeX is read. */
export interface BibtexEntry {
  /** In lower case: "article", "string". */
  readonly type: string;
  /** Empty where the entry has none. */
  readonly key: string;
  readonly line: number;
  /** Each with its value in TeX, its pieces joined and without the braces or quotation marks around them. */
  readonly fields: readonly { readonly name: string; readonly value: string; readonly line: number }[];
  /** Why its end could not be read. */
  readonly why?: string;
}

/** An entry that is longer is not one: its end is missing, or it holds a whole text. */
const maxEntry = 200_000;
const tooLong = "too long for an entry; its end may be missing";
/** An entry begins a line, or follows the end of another one. */
const start = /(?:^|[\n\r}])[ \t]*@[ \t]*([a-z]+)[ \t]*([{(])/gi;
/** So does one behind other words of its line, where it shows a key; what a per cent sign takes out stays out. */
const startWithin = /@[ \t]*([a-z]+)[ \t]*([{(])(?=[^\s,{}()="]+[ \t]*,)/i;

/** A place where an entry begins: the text up to its brace, its type and its brace. */
interface Start {
  readonly index: number;
  readonly 0: string;
  readonly 1?: string;
  readonly 2?: string;
}

/** The first entry that begins behind other words, between two places where no other entry stands. */
function startBetween(text: string, from: number, to: number): Start[] {
  let at = from;
  for (const line of text.slice(from, to).split("\n")) {
    const found = startWithin.exec(line.split("%", 1)[0] ?? "");
    if (found !== null) return [{ ...found, index: at + found.index }];
    at += line.length + 1;
  }
  return [];
}

/**
 * The entries of a .bib file, what `@string` defines put in. A field without an equals sign or an end costs its entry
 * nothing but itself and what stands behind it up to the next field; keys may be missing or hold blanks, and names of
 * fields may hold blanks.
 */
export function bibtexEntries(text: string): BibtexEntry[] {
  const lineAt = lineCounter(text);
  const starts: Start[] = [...text.matchAll(start)];
  starts.unshift(...startBetween(text, 0, starts[0]?.index ?? text.length));
  const entries: BibtexEntry[] = [];
  const strings = new Map(months.map((month) => [month.slice(0, 3).toLowerCase(), month]));
  let commentEnd = 0;
  for (const [index, found] of starts.entries()) {
    if (found.index < commentEnd) continue;
    const { 0: whole, 1: type = "", 2: open } = found;
    const at = found.index + whole.length;
    if (type.toLowerCase() === "comment" && open === "{") {
      commentEnd = at + (closedAt(text.slice(at, at + maxEntry), "}", true) ?? 0);
      continue;
    }
    const next = starts[index + 1];
    const body = bodyOf(text.slice(at, next === undefined ? text.length : next.index + 1), open === "(" ? ")" : "}");
    const end = at + body.text.length + 1;
    if (body.why === undefined) starts.splice(index + 1, 0, ...startBetween(text, end, next?.index ?? text.length));
    const line = lineAt(found.index + whole.lastIndexOf("@"));
    const lowered = type.toLowerCase();
    if (lowered === "comment" || lowered === "preamble") continue;
    const { key, from } = keyOf(body.text, lowered);
    const fields = (
      body.why === tooLong ? [] : fieldsOf(body.text, from, { strings, isCut: body.why !== undefined })
    ).map(({ name, value, at: place }) => ({ name, value, line: lineAt(at + place) }));
    if (lowered === "string") {
      for (const { name, value } of fields) strings.set(name, value);
      continue;
    }
    const trimmed = fields.map((field) => ({ ...field, value: field.value.trim() }));
    entries.push({ type: lowered, key, line, fields: trimmed, ...(body.why === undefined ? {} : { why: body.why }) });
  }
  return entries;
}

const months = "January,February,March,April,May,June,July,August,September,October,November,December".split(",");

/** Counts lines up to ever later places. */
function lineCounter(text: string): (at: number) => number {
  let [line, counted] = [1, 0];
  return (at) => {
    for (; counted < at; counted += 1) if (text.charCodeAt(counted) === 10) line += 1;
    return line;
  };
}

/** The text of an entry up to the bracket that closes it; all of it where none does before the next entry. */
function bodyOf(text: string, close: string): { readonly text: string; readonly why?: string } {
  if (text.length > maxEntry) return { text: text.slice(0, 500), why: tooLong };
  // Braces that are escaped count for BibTeX, and for some programs that write it they don't.
  for (const escapesCount of [true, false]) {
    const end = closedAt(text, close, escapesCount);
    if (end === undefined) continue;
    // A brace too many closes an entry before its last fields.
    const [rest = ""] = text.slice(end + 1).split(/@|\n\s*[\n%]/, 1);
    return nextField.test(rest)
      ? { text: text.slice(0, end + 1 + rest.length), why: "it has a brace too many" }
      : { text: text.slice(0, end) };
  }
  return { text, why: "its end is missing" };
}

function closedAt(text: string, close: string, escapesCount: boolean): number | undefined {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === "\\" && !escapesCount) at += 1;
    else if (depth === 0 && sign === "%" && /[,\n][ \t]*$/.test(text.slice(Math.max(0, at - 80), at)))
      at = lineEnd(text, at);
    else if (depth === 0 && sign === '"' && close === ")" && /=\s*$/.test(text.slice(Math.max(0, at - 20), at)))
      at = closeOf(text, at, sign) ?? at;
    else if (depth === 0 && sign === close) return at;
    else if (sign === "{") depth += 1;
    else if (sign === "}") depth -= 1;
    if (depth < 0) return undefined;
  }
  return undefined;
}

function keyOf(body: string, type: string): { readonly key: string; readonly from: number } {
  const [before = "", comma] = /^[^,={}"]{0,300}(,)?/.exec(body) ?? [];
  // Without a comma behind its key, the key is the word before the first field's name.
  const [all, own] = /^\s*(\S+)\s+(?=[a-z][a-z_-]+\s*$)/i.exec(before) ?? [];
  if (type !== "string" && comma === undefined && all !== undefined) return { key: own ?? "", from: all.length };
  // "@string{name = …}" and an entry whose first thing is a field have no key.
  if (type === "string" || comma === undefined) return { key: "", from: 0 };
  return { key: before.slice(0, -1).trim(), from: before.length };
}

const fieldStart = /([^\s,={}"#][^,={}"#]{0,80})=\s*/y;

const lineEnd = (text: string, from: number): number => {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
};

interface Known {
  readonly strings: ReadonlyMap<string, string>;
  /** The end of the entry is missing, so that a brace may be. */
  readonly isCut: boolean;
}

function fieldsOf(body: string, from: number, known: Known) {
  const fields: { name: string; value: string; at: number }[] = [];
  let at = from;
  while (at < body.length) {
    if (/[,\s]/.test(body[at] ?? "")) {
      at += 1;
      continue;
    }
    // Where a field would begin, a comment may.
    if (body[at] === "%") {
      at = lineEnd(body, at);
      continue;
    }
    fieldStart.lastIndex = at;
    const [lead, name] = fieldStart.exec(body) ?? [];
    if (lead === undefined || name === undefined) {
      const next = body.indexOf(",", at + 1);
      if (next === -1) break;
      at = next;
      continue;
    }
    const begin = at + lead.length;
    const { value, end } = valueAt(body, begin, known);
    fields.push({ name: name.trim().toLowerCase().replace(/\s+/g, "_"), value, at: begin });
    at = end;
  }
  return fields;
}

/** The value that begins there: pieces in braces, in quotation marks or bare, joined by `#`. */
function valueAt(body: string, from: number, known: Known): { readonly value: string; readonly end: number } {
  let at = from;
  let value = "";
  for (;;) {
    while (/\s/.test(body[at] ?? "")) at += 1;
    const piece = pieceAt(body, at, known);
    value += piece.value;
    at = piece.end;
    const [joined] = /^\s*#/.exec(body.slice(at, at + 200)) ?? [];
    if (joined === undefined) return { value, end: at };
    at += joined.length;
  }
}

function pieceAt(
  body: string,
  from: number,
  { strings, isCut }: Known,
): { readonly value: string; readonly end: number } {
  const open = body[from];
  if (open !== "{" && open !== '"') {
    const bare = /^[^,#{}"\n\r]*/.exec(body.slice(from, from + 1000))?.[0] ?? "";
    return { value: strings.get(bare.trim().toLowerCase()) ?? bare, end: from + bare.length };
  }
  const close = closeOf(body, from, open);
  const inside = body.slice(from + 1, close);
  const next = isCut || close === undefined ? (nextField.exec(inside)?.index ?? -1) : -1;
  if (next === -1)
    return { value: close === undefined ? inside.replace(/[{}]/g, "") : inside, end: (close ?? body.length) + 1 };
  return { value: inside.slice(0, next).replace(/[{}]/g, ""), end: from + 1 + next };
}

/** Where the brace or quotation mark at this place is closed; undefined where it is not. */
function closeOf(body: string, from: number, open: string): number | undefined {
  let depth = 0;
  for (let at = from + 1; at < body.length; at += 1) {
    const sign = body[at];
    if (depth === 0 && sign === (open === "{" ? "}" : '"') && !(open === '"' && body[at - 1] === "\\")) return at;
    if (sign === "{") depth += 1;
    if (sign === "}") depth -= 1;
  }
  return undefined;
}

/** What follows a value. */
const nextField = /,\s*[a-z][a-z_-]{1,30}\s*=\s*["{\d]/i;
