import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { type FetchRules, fetchText } from "../../lib/resolve/fetch-text.ts";
import { createNodeFetch, isPublic } from "../../lib/resolve/node-fetch.ts";
import { type Issuer, openIssuer } from "./issuer.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A server on this machine in clear text, which the rules allow. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function issuer(): Promise<Issuer> {
  const opened = await openIssuer();
  closing.push(opened.close);
  return opened;
}

const here: FetchRules = { allowedHosts: new Set(["127.0.0.1", "localhost"]), withinMs: 5_000 };
const nowhere: FetchRules = { allowedHosts: new Set(), withinMs: 5_000 };

const ask = (
  url: string,
  rules: FetchRules = here,
  more: { readonly maxBytes?: number; readonly etag?: string } = {},
) => fetchText(createNodeFetch(rules), rules, { url, maxBytes: 64 * 1024, ...more });

describe("fetchText", () => {
  it("reads a text, and learns by its tag that it is still the same", async () => {
    const url = await serve((request, response) => {
      if (request.headers["if-none-match"] === '"1"') return response.writeHead(304).end();
      response.setHeader("etag", '"1"').end("keys");
    });
    expect(await ask(url)).toEqual({ kind: "text", text: "keys", etag: '"1"' });
    expect(await ask(url, here, { etag: '"1"' })).toEqual({ kind: "unchanged" });
  });

  it("follows three redirects and no more", async () => {
    const url = await serve((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) return response.end("keys");
      response.writeHead(302, { location: `/${left - 1}` }).end();
    });
    expect(await ask(`${url}/3`)).toMatchObject({ text: "keys" });
    await expect(ask(`${url}/4`)).rejects.toThrow("leads from one redirect to the next, over more than 3");
  });

  it("follows no redirect to clear text, or into a private network", async () => {
    const { url, caBundle, answer } = await issuer();
    const rules = { ...here, allowedHosts: new Set(["localhost"]) };
    const fetch = createNodeFetch({ ...rules, caBundle });
    const leadTo = (location: string) => {
      answer((_request, response) => response.writeHead(302, { location }).end());
      return fetchText(fetch, rules, { url, maxBytes: 1024 });
    };
    await expect(leadTo("http://keys.example/keys")).rejects.toThrow("http://keys.example/keys is clear text");
    await expect(leadTo("https://127.0.0.1/keys")).rejects.toThrow("127.0.0.1 is this machine");
    await expect(leadTo("https://10.0.0.1/keys")).rejects.toThrow("10.0.0.1 is at 10.0.0.1, in a private network");
    await expect(leadTo("file:///etc/passwd")).rejects.toThrow("asked over file");
  });

  it("asks no name that leads into a private network, also where another address is public", async () => {
    const addresses: LookupFunction = (_name, _options, callback) =>
      callback(null, [
        { address: "93.184.215.14", family: 4 },
        { address: "169.254.169.254", family: 4 },
      ]);
    const fetch = createNodeFetch({ ...nowhere, lookup: addresses });
    await expect(fetchText(fetch, nowhere, { url: "https://metadata.example/keys", maxBytes: 1024 })).rejects.toThrow(
      "metadata.example is at 169.254.169.254, in a private network, which is not asked unless it is allowed; name metadata.example in resolver.allowedHosts",
    );
  });

  it("believes a certificate of the bundle it was given, and no other", async () => {
    const { jwksUri, caBundle } = await issuer();
    await expect(ask(jwksUri)).rejects.toThrow(/self-signed|unable to (?:verify|get)/);
    const known = createNodeFetch({ ...here, caBundle });
    expect(await fetchText(known, here, { url: jwksUri, maxBytes: 64 * 1024 })).toMatchObject({ kind: "text" });
  });

  it("reads no more than it may, whatever is sent", async () => {
    const url = await serve((_request, response) => {
      const block = Buffer.alloc(64 * 1024, " ");
      const more = () => {
        while (response.write(block));
      };
      response.on("drain", more);
      more();
    });
    await expect(ask(url)).rejects.toThrow("answers with more than 64 KiB");
  });

  it("unpacks nothing", async () => {
    const bomb = gzipSync(Buffer.alloc(10 * 1024 * 1024, " "));
    const url = await serve((_request, response) => response.setHeader("content-encoding", "gzip").end(bomb));
    const found = await ask(url);
    expect(found.kind === "text" && found.text.length).toBeLessThan(64 * 1024);
  });

  it("gives up a host that hangs, resets, or refuses, and says which", async () => {
    const hanging = await serve((_request, response) => response.write("{"));
    await expect(ask(hanging, { ...here, withinMs: 100 })).rejects.toThrow("did not answer within 0.1 s");
    const silent = await serve(() => {});
    await expect(ask(silent, { ...here, withinMs: 100 })).rejects.toThrow("did not answer within 0.1 s");
    const resetting = await serve((request) => request.socket.destroy());
    await expect(ask(resetting)).rejects.toThrow("socket hang up");
    const failing = await serve((_request, response) => response.writeHead(500).end());
    await expect(ask(failing)).rejects.toThrow("answers 500");
  });

  it.each([205, 600, 999])("is not ended by an answer of status %s", async (status) => {
    const url = await serve((_request, response) => response.writeHead(status).end("keys"));
    await expect(ask(url)).rejects.toThrow(/answers/);
  });

  it.each(["http://issuer.example/keys", "https://localhost/keys", "https://me:secret@issuer.example/keys", "keys"])(
    "does not ask %s",
    async (url) => {
      await expect(ask(url, nowhere)).rejects.toThrow(/clear text|this machine|holds a password|is no URL/);
    },
  );
});

describe("isPublic", () => {
  it.each([
    "168.63.129.16",
    "4000::1",
    "::5efe:a00:1",
    "10.1.2.3",
    "127.0.0.1",
    "169.254.169.254",
    "192.168.0.1",
    "100.64.0.1",
    "0.0.0.0",
    "::1",
    "fe80::1",
    "fd00::1",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
    "keys",
  ])("says no of %s", (address) => expect(isPublic(address)).toBe(false));
  it.each(["93.184.215.14", "2606:2800:21f::1"])("says yes of %s", (address) => expect(isPublic(address)).toBe(true));
});
