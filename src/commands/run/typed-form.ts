import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { ExpectedError, messageOf } from "../../engine/lib/errors.js";
import { readRegularText } from "../../engine/storage/regular-file.js";
import { fieldsIn, formProblems, formWith, type NewField, parseField } from "../../research/project-files/form.js";
import { promptName } from "../../research/project-files/layout.js";
import { frontMatterOf } from "../../research/workflow/brief/front-matter.js";
import { agreedPrompt } from "../../research/workflow/brief/prompt-file.js";
import type { Field } from "../../research/generated/rrd.js";

const isFormFile = (typedField: string): boolean => /\.(?:ya?ml|json)$/i.test(typedField.trim());

/**
 * The fields of a form. Each item of `typedFields` is a field, or the path of a YAML or JSON file with fields.
 * @throws ExpectedError (exit code 2) for an invalid field or file, and for a form that is too long.
 */
export async function typedForm(typedFields: readonly string[], cwd: string): Promise<readonly NewField[]> {
  const fields: NewField[] = [];
  for (const typedField of typedFields) {
    if (isFormFile(typedField)) fields.push(...(await readFormFile(resolve(cwd, typedField.trim()), typedField)));
    else {
      const field = parseField(typedField);
      if ("problem" in field) throw new ExpectedError(`--field: ${field.problem}.`, 2);
      fields.push(field);
    }
  }
  requireForm(formWith([], fields));
  return fields;
}

async function readFormFile(path: string, typedPath: string): Promise<readonly NewField[]> {
  if (!existsSync(path)) throw new ExpectedError(`--field: there is no file ${typedPath}.`, 2);
  return await fieldsOfText(await readRegularText(path), typedPath);
}

/** The fields in the front matter of the folder's prompt.md; empty if there are no fields. */
export async function promptForm(root: string, stateDir: string): Promise<Field[]> {
  const text = frontMatterOf((await agreedPrompt(root, stateDir)) ?? "");
  if (!/^fields:/m.test(text)) return [];
  const form = formWith([], await fieldsOfText(text, promptName));
  requireForm(form);
  return form;
}

/** The value of a YAML or JSON text. @throws ExpectedError (exit code 2) if the text is not valid. */
export async function parseYaml(text: string, place: string): Promise<unknown> {
  const { parse } = await import("yaml");
  try {
    return parse(text);
  } catch (error) {
    throw new ExpectedError(`${place} is not valid YAML: ${messageOf(error).split("\n")[0]}.`, 2);
  }
}

async function fieldsOfText(text: string, place: string): Promise<readonly NewField[]> {
  const fields = fieldsIn(await parseYaml(text, place));
  if ("problem" in fields) throw new ExpectedError(`The form in ${place} can't be used: ${fields.problem}.`, 2);
  return fields;
}

/** @throws ExpectedError (exit code 2) for a form that is not valid in rrd.json. */
export function requireForm(fields: readonly Field[]): void {
  const [first] = formProblems({ requirements: { fields } });
  if (first !== undefined)
    throw new ExpectedError(`The fields to extract can't be used: ${first.pointer} ${first.message}.`, 2);
}
