import { createServer, type RequestListener } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { tlsFetch } from "../../../lib/registry/kubernetes/access/tls-fetch.ts";

/** Ends the server of a test. */
const endings: (() => void)[] = [];
afterEach(() => {
  for (const end of endings.splice(0)) end();
});

/** Address of a server that answers everything with one status. */
const answering = (status: number) => serving((_request, response) => response.writeHead(status).end());

async function serving(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  endings.push(() => server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`;
}

describe("tlsFetch", () => {
  const fetch = tlsFetch(async () => ({}));

  it("takes an answer that has no body", async () => {
    for (const status of [204, 205, 304]) {
      const response = await fetch(await answering(status), {});
      expect([response.status, response.body]).toEqual([status, null]);
    }
  });

  it("sends a body of a DELETE with its length, and the next request on that connection is read", async () => {
    const url = await serving(async (request, response) => {
      const chunks = await request.toArray();
      response.end(`${request.method} ${Buffer.concat(chunks)}`);
    });
    for (const body of ["{}", '{"a":"ä"}']) {
      const response = await fetch(url, { method: "DELETE", body });
      expect(await response.text()).toBe(`DELETE ${body}`);
    }
  });

  it("fails, and lets the process live, for a status that is none of HTTP's", async () => {
    await expect(fetch(await answering(999), {})).rejects.toThrow("answered with status 999");
  });
});
