// Runs one call of a plugin and ends. Plain Node, so that nothing else has to be visible in the plugin's sandbox.
//
// On stdin: {module, call, kind, input, context, mark, undici?}. `call`: nothing, or the path of a function in what the
// module exports, such as ["hooks", "onSuccess"]. The last line of stdout that begins with `mark` is the answer; what
// the plugin itself prints goes to stderr, or is not listened to.
import { Console } from "node:console";
import { pathToFileURL } from "node:url";

// The plugin may change what is global: the little that is needed after it is taken before it.
const { stringify, parse } = JSON;
const { stdout, stderr, stdin } = process;
const write = stdout.write.bind(stdout);
const exit = process.exit.bind(process);

let text = "";
for await (const piece of stdin.setEncoding("utf8")) text += piece;
const { module, call, kind, input, context, mark, undici } = parse(text);
globalThis.console = new Console(stderr, stderr);

const answer = (value) => write(`\n${mark}${stringify(value)}\n`, () => exit(0));

/** Node's own fetch knows no proxy before Node 24. */
async function useProxy() {
  const { EnvHttpProxyAgent, fetch } = await import(pathToFileURL(undici).href);
  const dispatcher = new EnvHttpProxyAgent();
  globalThis.fetch = (address, init) => fetch(address, { dispatcher, ...init });
}

/** What a plugin exports, in words. */
const described = ({ name, version, hooks = {}, sources = [] }) => ({
  name,
  version,
  hooks: Object.keys(hooks).filter((each) => typeof hooks[each] === "function"),
  sources: sources.map(({ id, endpoint }) => ({ id, endpoint })),
});

async function called() {
  if (undici !== undefined) await useProxy();
  const loaded = await import(pathToFileURL(module).href);
  const plugin = loaded.default ?? loaded;
  if (call === undefined) return { described: described(plugin) };
  const holder = call.slice(0, -1).reduce((inner, name) => inner[name], plugin);
  const value = await holder[call.at(-1)](input, context);
  return value === undefined || value === null || kind === "nothing" ? { nothing: true } : { [kind]: value };
}

try {
  answer(await called());
} catch (error) {
  answer({ error: String(error?.message ?? error).slice(0, 1000) });
}
