import { join } from "node:path";
import { beforeAll } from "vitest";
import { sharedPackage } from "../../../support/processes/built.js";
import { makePlace, type Place, type PlaceOptions } from "./place.js";

/** Has the command built before a test file; the answer makes places whose commands are that build's. */
export function useBuiltCli(): (options?: PlaceOptions) => Place {
  let built = "";
  beforeAll(async () => {
    built = await sharedPackage();
  });
  return (options) => makePlace(join(built, "dist"), options);
}
