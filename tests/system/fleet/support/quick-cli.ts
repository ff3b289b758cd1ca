// The command line with the times of a fleet shortened: what a minute decides for people is decided in a second here.
import { main } from "../../../../src/commands/main.js";
import { times } from "../../../../src/fleet/keys.js";
import { processIo } from "../../../../src/engine/ui/io.js";

Object.assign(times, JSON.parse(process.env["TEST_FLEET_TIMES"] ?? "{}"));
process.exitCode = await main(process.argv.slice(2), processIo("research-ralph"), "0.0.0");
