// How Node finds and reads the TypeScript of this package. See load-typescript.mjs.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { transformSync } from "rolldown/utils";

/** What vitest adds to the path of a test file, so that it is loaded anew. */
const anew = /%3Fvitest=\d+/;
const isOwn = (url) => url?.startsWith("file:") && !url.includes("/node_modules/");

/** What the transformed code imports where a template with a tag holds "</script"; its package is not installed. */
const helper = "@oxc-project/runtime/helpers/taggedTemplateLiteral";
const template =
  "(cooked, raw = cooked) => Object.freeze(Object.assign([...cooked], { raw: Object.freeze([...raw]) }))";

export async function resolve(specifier, context, next) {
  if (specifier === helper) return { url: `data:text/javascript,export default ${template}`, shortCircuit: true };
  if (anew.test(specifier)) return { url: `${specifier.replace(anew, "")}?vitest=${Date.now()}`, shortCircuit: true };
  if (isOwn(context.parentURL) && /^\.\.?\/.*\.js$/.test(specifier))
    try {
      return await next(specifier.replace(/\.js$/, ".ts"), context);
    } catch {
      // It is JavaScript.
    }
  return next(specifier, context);
}

export async function load(url, context, next) {
  const [path = ""] = url.split("?");
  if (!isOwn(path) || !path.endsWith(".ts")) return next(url, context);
  const file = fileURLToPath(path);
  const { code, map, errors } = transformSync(file, readFileSync(file, "utf8"), { sourcemap: true, target: "esnext" });
  if (errors.length > 0) throw new SyntaxError(`${file}: ${errors[0].message}`);
  const inline = Buffer.from(JSON.stringify(map)).toString("base64");
  const source = `${code}\n//# sourceMappingURL=data:application/json;base64,${inline}`;
  return { format: "module", source, shortCircuit: true };
}
