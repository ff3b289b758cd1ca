import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { modelFetch, NoAnswer } from "../../../src/assistant/model/fetch.js";

async function answered(type: string, body: string, status = 200): Promise<Response> {
  const server = createServer((_, response) => response.writeHead(status, { "content-type": type }).end(body));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await modelFetch()(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

it("tells of a web page in place of an answer by the page's words", async () => {
  const page = answered("text/html; charset=utf-8", "<html><body><h1>Log in</h1> to the <b>proxy</b></body></html>");
  await expect(page).rejects.toThrow(
    /sent a web page in place of an answer \(Log in to the proxy\); is api_url right\?$/,
  );
  await expect(page).rejects.toBeInstanceOf(NoAnswer);
});

it("hands on an error with status 200 as the event of a stream, and other JSON and errors as they are", async () => {
  const error = '{"error":\n{"message":"model not loaded"}}';
  expect(await (await answered("application/json", error)).text()).toBe(`data: ${error.replace("\n", " ")}\n\n`);
  expect(await (await answered("application/json", '{"data":[],"error":null}')).text()).toBe(
    '{"data":[],"error":null}',
  );
  expect(await (await answered("application/json", error, 500)).text()).toBe(error);
  expect(await (await answered("text/html", "<p>down", 503)).text()).toBe("<p>down");
});
