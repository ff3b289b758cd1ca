import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { sharedPackage } from "../../../support/processes/built.js";
import { type House, type HouseOptions, openHouse } from "./house.js";

/**
 * Has the command built before a test file; the answer opens houses whose runs use it. They go when the file is done:
 * tests run side by side here, and the end of one is not the end of its neighbour.
 */
export function useBuiltCli(): (options?: HouseOptions) => House {
  let built = "";
  const opened: House[] = [];
  beforeAll(async () => {
    built = await sharedPackage();
  }, 180_000);
  afterAll(() => {
    for (const house of opened) house.close();
  });
  return (options) => {
    const house = openHouse(join(built, "dist", "cli.js"), options);
    opened.push(house);
    return house;
  };
}
