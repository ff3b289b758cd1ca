import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach } from "vitest";
import type { FakeLlm } from "../../fixtures/fake-llm/server.js";
import { sharedPackage } from "../processes/built.js";

/** Where a test runs the built package beside a scripted model. */
export interface BesideModel {
  /** Folder of the built package. */
  readonly built: string;
  /** A folder of each test's own. */
  readonly folder: string;
  /** The scripted model; each test starts its own. */
  server: FakeLlm;
}

/** The built package, a folder for every test of the file, and the server that the test starts; both go after it. */
export function besideModel(name: string): BesideModel {
  const place = { built: "", folder: "", server: undefined as unknown as FakeLlm };
  beforeAll(async () => {
    place.built = await sharedPackage();
  });
  beforeEach(() => {
    place.folder = mkdtempSync(join(tmpdir(), `${name}-`));
  });
  afterEach(async () => {
    await place.server.close();
    rmSync(place.folder, { recursive: true, force: true });
  });
  return place;
}
