/** An entry of a .bib file, with values in TeX. */
export interface BibtexEntry {
  /** In lower case: "article", "string". */
  readonly type: string;
  /** Empty if the entry has no key. */
  readonly key: string;
  readonly line: number;
  /** The fields. A value is in TeX, with its parts joined, and without enclosing braces or quotation marks. */
  readonly fields: readonly { readonly name: string; readonly value: string; readonly line: number }[];
  /** The reason why the end of the entry could not be read. */
  readonly why?: string;
  /** Parts of the entry that are in no field, as sentences. */
  readonly lost: readonly string[];
}

/** Maximum length of an entry. In a longer one the end is missing, or it contains a complete text. */
const maxEntryChars = 200_000;
const tooLong = "too long for an entry; its end may be missing";
/** The start of an entry at the beginning of a line or after another entry. */
const entryStart = /(?:^|[\n\r}])[ \t]*@[ \t]*([a-z]+)[ \t]*([{(])/gi;
/** The start of an entry with a key after other words in a line. */
const entryStartInLine = /@[ \t]*([a-z]+)[ \t]*([{(])(?=[^\s,{}()="]+[ \t]*,)/i;

/** The start of an entry: the text up to its bracket, its type and its bracket. */
interface Start {
  readonly index: number;
  readonly 0: string;
  readonly 1?: string;
  readonly 2?: string;
}

/** The first start of an entry after other words, between two positions without other entries. Comments are skipped. */
function findStartBetween(text: string, from: number, to: number): Start[] {
  let position = from;
  for (const line of text.slice(from, to).split("\n")) {
    const match = entryStartInLine.exec(line.split("%", 1)[0] ?? "");
    if (match !== null) return [{ ...match, index: position + match.index }];
    position += line.length + 1;
  }
  return [];
}

/**
 * The entries of a .bib file, with `@string` definitions replaced. If a field has no equals sign or no end, only the
 * text up to the next field is lost. Keys may be missing, and keys and names of fields may contain spaces.
 */
export function bibtexEntries(text: string): BibtexEntry[] {
  const lineAt = lineCounter(text);
  const starts: Start[] = [...text.matchAll(entryStart)];
  starts.unshift(...findStartBetween(text, 0, starts[0]?.index ?? text.length));
  const entries: BibtexEntry[] = [];
  const strings = new Map(months.map((month) => [month.slice(0, 3).toLowerCase(), month]));
  let commentEnd = 0;
  for (const [index, match] of starts.entries()) {
    if (match.index < commentEnd) continue;
    const { 0: startText, 1: type = "", 2: open } = match;
    const position = match.index + startText.length;
    if (type.toLowerCase() === "comment" && open === "{") {
      commentEnd = position + (closingPosition(text.slice(position, position + maxEntryChars), "}", true) ?? 0);
      continue;
    }
    const next = starts[index + 1];
    const body = bodyOf(
      text.slice(position, next === undefined ? text.length : next.index + 1),
      open === "(" ? ")" : "}",
    );
    const end = position + body.text.length + 1;
    if (body.why === undefined) starts.splice(index + 1, 0, ...findStartBetween(text, end, next?.index ?? text.length));
    const line = lineAt(match.index + startText.lastIndexOf("@"));
    const lowerType = type.toLowerCase();
    if (lowerType === "comment" || lowerType === "preamble") continue;
    const { key, from } = keyOf(body.text, lowerType);
    const parsed =
      body.why === tooLong
        ? { fields: [], skipped: [] }
        : fieldsOf(body.text, from, { strings, isCut: body.why !== undefined });
    const fields = parsed.fields.map(({ name, value, position: start }) => ({
      name,
      value,
      line: lineAt(position + start),
    }));
    if (lowerType === "string") {
      for (const { name, value } of fields) strings.set(name, value);
      continue;
    }
    const trimmedFields = fields.map((field) => ({ ...field, value: field.value.trim() }));
    entries.push({
      type: lowerType,
      key,
      line,
      fields: trimmedFields,
      lost: parsed.skipped.map((skipped) => `what stands behind a field can't be read (${skipped.slice(0, 40)})`),
      ...(body.why === undefined ? {} : { why: body.why }),
    });
  }
  return entries;
}

const months = "January,February,March,April,May,June,July,August,September,October,November,December".split(",");

/** Returns a function that gives the line of a position. Positions must not decrease. */
function lineCounter(text: string): (position: number) => number {
  let [line, countedUpTo] = [1, 0];
  return (position) => {
    for (; countedUpTo < position; countedUpTo += 1) if (text.charCodeAt(countedUpTo) === 10) line += 1;
    return line;
  };
}

/** The text of an entry up to its closing bracket; the complete text if it has none before the next entry. */
function bodyOf(text: string, close: string): { readonly text: string; readonly why?: string } {
  if (text.length > maxEntryChars) return { text: text.slice(0, 500), why: tooLong };
  // Escaped braces count for BibTeX, but not for some programs that write BibTeX.
  for (const escapesCount of [true, false]) {
    const end = closingPosition(text, close, escapesCount);
    if (end === undefined) continue;
    // An extra brace closes an entry before its last fields.
    const [rest = ""] = text.slice(end + 1).split(/@|\n\s*[\n%]/, 1);
    return nextField.test(rest)
      ? { text: text.slice(0, end + 1 + rest.length), why: "it has a brace too many" }
      : { text: text.slice(0, end) };
  }
  return { text, why: "its end is missing" };
}

function closingPosition(text: string, close: string, escapesCount: boolean): number | undefined {
  let depth = 0;
  for (let position = 0; position < text.length; position += 1) {
    const sign = text[position];
    if (sign === "\\" && !escapesCount) position += 1;
    else if (depth === 0 && sign === "%" && /[,\n][ \t]*$/.test(text.slice(Math.max(0, position - 80), position)))
      position = lineEnd(text, position);
    else if (
      depth === 0 &&
      sign === '"' &&
      close === ")" &&
      /=\s*$/.test(text.slice(Math.max(0, position - 20), position))
    )
      position = closingSign(text, position, sign) ?? position;
    else if (depth === 0 && sign === close) return position;
    else if (sign === "{") depth += 1;
    else if (sign === "}") depth -= 1;
    if (depth < 0) return undefined;
  }
  return undefined;
}

function keyOf(body: string, type: string): { readonly key: string; readonly from: number } {
  const [textBefore = "", comma] = /^[^,={}"]{0,300}(,)?/.exec(body) ?? [];
  // If the comma after the key is missing, the key is the word before the name of the first field.
  const [keyText, key] = /^\s*(\S+)\s+(?=[a-z][a-z_-]+\s*$)/i.exec(textBefore) ?? [];
  if (type !== "string" && comma === undefined && keyText !== undefined)
    return { key: key ?? "", from: keyText.length };
  // "@string{name = …}" and an entry that starts with a field have no key.
  if (type === "string" || comma === undefined) return { key: "", from: 0 };
  return { key: textBefore.slice(0, -1).trim(), from: textBefore.length };
}

const fieldStart = /([^\s,={}"#][^,={}"#]{0,80})=\s*/y;

const lineEnd = (text: string, from: number): number => {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
};

interface ParseContext {
  readonly strings: ReadonlyMap<string, string>;
  /** Whether the end of the entry is missing. Then the end of a value may be missing too. */
  readonly isCut: boolean;
}

function fieldsOf(body: string, from: number, context: ParseContext) {
  const fields: { name: string; value: string; position: number }[] = [];
  const skipped: string[] = [];
  let position = from;
  while (position < body.length) {
    if (/[,\s]/.test(body[position] ?? "")) {
      position += 1;
      continue;
    }
    // A comment instead of a field.
    if (body[position] === "%") {
      position = lineEnd(body, position);
      continue;
    }
    fieldStart.lastIndex = position;
    const [fieldText, name] = fieldStart.exec(body) ?? [];
    if (fieldText === undefined || name === undefined) {
      const next = body.indexOf(",", position + 1);
      const text = body.slice(position, next === -1 ? undefined : next).trim();
      if (/[\p{L}\d]/u.test(text)) skipped.push(text);
      if (next === -1) break;
      position = next;
      continue;
    }
    const valueStart = position + fieldText.length;
    const { value, end } = valueAt(body, valueStart, context);
    fields.push({ name: name.trim().toLowerCase().replace(/\s+/g, "_"), value, position: valueStart });
    position = end;
  }
  return { fields, skipped };
}

/** The value at a position: parts in braces, in quotation marks or without them, joined by `#`. */
function valueAt(body: string, from: number, context: ParseContext): { readonly value: string; readonly end: number } {
  let position = from;
  let value = "";
  for (;;) {
    while (/\s/.test(body[position] ?? "")) position += 1;
    const piece = pieceAt(body, position, context);
    value += piece.value;
    position = piece.end;
    const [separator] = /^\s*#/.exec(body.slice(position, position + 200)) ?? [];
    if (separator === undefined) return { value, end: position };
    position += separator.length;
  }
}

function pieceAt(
  body: string,
  from: number,
  { strings, isCut }: ParseContext,
): { readonly value: string; readonly end: number } {
  const open = body[from];
  if (open !== "{" && open !== '"') {
    const bareText = /^[^,#{}"\n\r]*/.exec(body.slice(from, from + 1000))?.[0] ?? "";
    return { value: strings.get(bareText.trim().toLowerCase()) ?? bareText, end: from + bareText.length };
  }
  const close = closingSign(body, from, open);
  const content = body.slice(from + 1, close);
  const next = isCut || close === undefined ? (nextField.exec(content)?.index ?? -1) : -1;
  if (next === -1)
    return { value: close === undefined ? content.replace(/[{}]/g, "") : content, end: (close ?? body.length) + 1 };
  return { value: content.slice(0, next).replace(/[{}]/g, ""), end: from + 1 + next };
}

/** The position of the closing brace or quotation mark; undefined if it is missing. */
function closingSign(body: string, from: number, open: string): number | undefined {
  let depth = 0;
  for (let position = from + 1; position < body.length; position += 1) {
    const sign = body[position];
    if (depth === 0 && sign === (open === "{" ? "}" : '"') && !(open === '"' && body[position - 1] === "\\"))
      return position;
    if (sign === "{") depth += 1;
    if (sign === "}") depth -= 1;
  }
  return undefined;
}

/** The beginning of the next field after a value. */
const nextField = /,\s*[a-z][a-z_-]{1,30}\s*=\s*["{\d]/i;
