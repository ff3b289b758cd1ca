// Real agent CLIs that talk to the scripted model server of the tests.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { inFolder, mustRun, root } from "./measure.mjs";

/** Where the end-to-end tests have installed a CLI; undefined where they have not. */
export function installedCli(agent) {
  const program = join(root, ".e2e/clis/node_modules/.bin", agent);
  return existsSync(program) ? program : undefined;
}

/** The scripted model server of the tests is TypeScript, which Node 20 does not read. */
export async function modelServer() {
  return await inFolder(async (out) => {
    writeFileSync(join(out, "package.json"), '{ "type": "module" }');
    const options = ["--outDir", out, "--module", "nodenext", "--target", "es2023", "--skipLibCheck", "--types", "node", "--ignoreConfig"];
    await mustRun(process.execPath, ["node_modules/typescript/bin/tsc", ...options, "tests/fixtures/fake-llm/server.ts"], { cwd: root });
    return await import(pathToFileURL(join(out, "server.js")).href);
  });
}

/** What makes the CLI talk to the scripted server, without any login. */
export function settings(agent, { url }, home) {
  if (agent === "claude") {
    return { env: { HOME: home, CLAUDE_CONFIG_DIR: join(home, ".claude"), ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "dummy" } };
  }
  const provider = ['name="fake"', `base_url="${url}/v1"`, 'env_key="FAKE_KEY"', 'wire_api="responses"'].map(
    (setting) => `model_providers.fake.${setting}`,
  );
  const args = ['model_provider="fake"', 'model="gpt-5.5"', ...provider].flatMap((setting) => ["-c", setting]);
  return { args, env: { HOME: home, FAKE_KEY: "dummy" } };
}
