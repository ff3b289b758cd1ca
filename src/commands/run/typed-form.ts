import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { ExpectedError, messageOf } from "../../engine/lib/errors.js";
import { readRegularText } from "../../engine/storage/regular-file.js";
import { fieldsIn, formProblems, formWith, type NewField, parseField } from "../../research/project-files/form.js";
import { promptName } from "../../research/project-files/layout.js";
import { frontMatterOf } from "../../research/workflow/brief/front-matter.js";
import { agreedPrompt } from "../../research/workflow/brief/prompt-file.js";
import type { Field } from "../../research/generated/rrd.js";

const isFormFile = (typed: string): boolean => /\.(?:ya?ml|json)$/i.test(typed.trim());

/**
 * The fields that a person typed, and those of the files in YAML or JSON that were named instead.
 * @throws ExpectedError (exit code 2) for one that can't be read, and for a form that is too long.
 */
export async function typedForm(typed: readonly string[], cwd: string): Promise<readonly NewField[]> {
  const fields: NewField[] = [];
  for (const each of typed) {
    if (isFormFile(each)) fields.push(...(await formFile(resolve(cwd, each.trim()), each)));
    else {
      const field = parseField(each);
      if ("problem" in field) throw new ExpectedError(`--field: ${field.problem}.`, 2);
      fields.push(field);
    }
  }
  requireForm(formWith([], fields));
  return fields;
}

async function formFile(path: string, named: string): Promise<readonly NewField[]> {
  if (!existsSync(path)) throw new ExpectedError(`--field: there is no file ${named}.`, 2);
  return await fieldsOfText(await readRegularText(path), named);
}

/** The fields that the front matter of the folder's prompt.md lists under `fields`; none where it has none. */
export async function promptForm(root: string, stateDir: string): Promise<Field[]> {
  const text = frontMatterOf((await agreedPrompt(root, stateDir)) ?? "");
  if (!/^fields:/m.test(text)) return [];
  const form = formWith([], await fieldsOfText(text, promptName));
  requireForm(form);
  return form;
}

/** @throws ExpectedError (exit code 2) where a text is not YAML; JSON is. */
export async function yamlIn(text: string, where: string): Promise<unknown> {
  const { parse } = await import("yaml");
  try {
    return parse(text);
  } catch (error) {
    throw new ExpectedError(`${where} is not valid YAML: ${messageOf(error).split("\n")[0]}.`, 2);
  }
}

async function fieldsOfText(text: string, where: string): Promise<readonly NewField[]> {
  const fields = fieldsIn(await yamlIn(text, where));
  if ("problem" in fields) throw new ExpectedError(`The form in ${where} can't be used: ${fields.problem}.`, 2);
  return fields;
}

/** @throws ExpectedError (exit code 2) for a form that no rrd.json may hold. */
export function requireForm(fields: readonly Field[]): void {
  const [first] = formProblems({ requirements: { fields } });
  if (first !== undefined)
    throw new ExpectedError(`The fields to extract can't be used: ${first.pointer} ${first.message}.`, 2);
}
