import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkAll } from "../../../src/task/criteria/check-criteria.js";
import { placeOnHost } from "../place.js";

test("a check that fails says of what it names that it is outside of the sandbox, and nothing where it passes", async () => {
  const place = placeOnHost();
  const bin = join(place.scratch, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "builder"), "#!/bin/sh\n", { mode: 0o755 });
  const missing = { variables: ["DEPLOY_TARGET", "OTHER"], path: bin };
  const criteria = ["echo DEPLOY_TARGET is not set >&2; exit 1", "builder --all", "echo OTHER"].map((command) => ({
    type: "command_succeeds" as const,
    command,
  }));
  const checked = await checkAll(
    criteria,
    { ...place, missingInSandbox: missing },
    { seenTests: [] },
    async () => undefined,
  );
  const [variable, program, passed] = checked?.checks.map(({ detail }) => detail) ?? [];
  expect(variable).toContain("Outside of the sandbox: DEPLOY_TARGET. --env DEPLOY_TARGET lets it in.");
  expect(program).toContain(`${join(bin, "builder")} is on this machine, and the sandbox does not show it.`);
  expect(passed).not.toContain("sandbox");
  const onHost = await checkAll(criteria.slice(0, 1), place, { seenTests: [] }, async () => undefined);
  expect(onHost?.checks[0]?.detail).not.toContain("sandbox");
});
