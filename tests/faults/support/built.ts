import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { buildPackage } from "../../cli/built.js";
import { makePlace, type Place, type PlaceOptions } from "./place.js";

/** Builds the command once for a test file; the answer makes places whose commands are that build's. */
export function useBuiltCli(): (options?: PlaceOptions) => Place {
  let built = "";
  beforeAll(async () => {
    built = await buildPackage();
  }, 180_000);
  afterAll(() => rmSync(built, { recursive: true, force: true }));
  return (options) => makePlace(join(built, "dist"), options);
}
