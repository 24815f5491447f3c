import { describe, expect, it } from "vitest";
import { wholeHandler } from "../../functions/function-url.ts";

const event = (headers: Readonly<Record<string, string>> = {}, more: object = {}) => ({
  rawPath: "/v3/discovery:clusters",
  rawQueryString: "shape=poll",
  headers,
  requestContext: { domainName: "portolan.example", http: { method: "POST" } },
  ...more,
});

describe("wholeHandler", () => {
  it("hands the request on and the answer back, byte for byte", async () => {
    const handle = wholeHandler({
      fetch: async (request) => {
        const bytes = new Uint8Array(await request.arrayBuffer());
        return new Response(bytes, {
          status: 201,
          headers: { "x-url": request.url, "x-name": request.headers.get("x-name") ?? "" },
        });
      },
    });
    const body = Buffer.from([0, 255, 10]).toString("base64");
    expect(await handle(event({ "x-name": "a" }, { body, isBase64Encoded: true }))).toEqual({
      statusCode: 201,
      headers: { "x-url": "https://portolan.example/v3/discovery:clusters?shape=poll", "x-name": "a" },
      body,
      isBase64Encoded: true,
    });
  });

  it.each([
    [4_500_000, 200],
    [4_500_001, 500],
  ])("answers with %i bytes by %i", async (bytes, status) => {
    const handle = wholeHandler({ fetch: () => new Response(new Uint8Array(bytes)) });
    const answer = await handle(event());
    expect(answer.statusCode).toBe(status);
    // Lambda's own limit.
    expect(JSON.stringify(answer).length).toBeLessThan(6 * 1024 * 1024);
    if (status === 500)
      expect(Buffer.from(answer.body, "base64").toString()).toBe(
        "the answer has 4500001 bytes, and API Gateway passes 4500000 on: use the function URL\n",
      );
  });

  it("answers what is no request of the web with 400", async () => {
    const handle = wholeHandler({ fetch: () => new Response("") });
    expect((await handle(event({ "x-name": "\u{1F600}" }))).statusCode).toBe(400);
  });
});
