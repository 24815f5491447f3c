import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { blobKey } from "../../../lib/base/blob.ts";
import type { WantedModule } from "../../../lib/config/kinds/wasm-module.ts";
import { fetchModule } from "../../../lib/resolve/modules/fetch-module.ts";
import { createNodeFetch } from "../../../lib/resolve/node-fetch.ts";
import { makeWrappingKey } from "../../../lib/secrets/environment-key.ts";
import { secretStore } from "../../../lib/secrets/secret-store.ts";
import { wrappingKeys } from "../../../lib/secrets/wrapping-keys.ts";
import { memoryStore } from "../../../lib/storage/memory.ts";
import { teapotModule } from "../../e2e/wasm-module.ts";
import { digestOf, moduleLayer, openRegistry, type TestRegistry, tarLayer } from "../registry.ts";

const code = teapotModule();
const sha256 = digestOf(code);

let registry: TestRegistry;
beforeAll(async () => {
  registry = await openRegistry();
});
afterAll(() => registry.close());

function tools(of = registry, allowedHosts: ReadonlySet<string> = new Set(["localhost"])) {
  const store = memoryStore();
  const secrets = secretStore(store, wrappingKeys(makeWrappingKey(), "KEY"));
  const fetch = createNodeFetch({ allowedHosts, caBundle: of.caBundle });
  return { store, secrets, fetch, rules: { allowedHosts, withinMs: 60_000 } };
}
const fetched = (wanted: WantedModule, of = tools()) => fetchModule(wanted, undefined, of);
const image = (name: string) => ({ url: `oci://${registry.host}/${name}` });

describe("a module", () => {
  it("is read over https, with or without its hash, and lies in the store under it", async () => {
    registry.file("/teapot.wasm", code);
    const of = tools();
    const url = `https://${registry.host}/teapot.wasm`;
    expect(await fetched({ url }, of)).toMatchObject({ sha256 });
    expect(await fetched({ url, sha256 }, of)).toMatchObject({ sha256 });
    const found = await of.store.get(blobKey(sha256));
    expect(found.kind === "found" && digestOf(found.bytes)).toBe(sha256);
    await expect(fetched({ url, sha256: "a".repeat(64) })).rejects.toThrow(`has the SHA-256 ${sha256}`);
  });

  it("is in an image: in a layer that is one, or as plugin.wasm in a tar, with gzip and without", async () => {
    registry.push("team/artifact", "1", [
      { mediaType: "application/vnd.oci.empty.v1", bytes: new Uint8Array() },
      moduleLayer(code),
    ]);
    registry.push("team/image", "1", [await tarLayer("other", code), await tarLayer("./plugin.wasm", code)]);
    registry.push("team/plain", "latest", [await tarLayer("plugin.wasm", code, false)]);
    const { bytes } = await tarLayer("plugin.wasm", code);
    const mediaType = "application/vnd.docker.image.rootfs.diff.tar.gzip";
    const digest = registry.push("team/docker", "1", [{ mediaType, bytes }]);
    registry.push("team/of-others", "1", [moduleLayer(new TextEncoder().encode("none"))]);
    const other = registry.push("team/index", "amd64", [moduleLayer(new TextEncoder().encode("none"))]);
    const own = registry.push("team/index", "wasm", [moduleLayer(code)]);
    registry.pushIndex("team/index", "1", [
      { digest: other, architecture: "amd64" },
      { digest: own, architecture: "wasm" },
    ]);
    const names = ["artifact:1", "image:1", "plain", "docker:1", `docker@${digest}`, "index:1"];
    const found = await Promise.all(names.map((name) => fetched(image(`team/${name}`))));
    expect(found.map((one) => one.sha256)).toEqual(names.map(() => sha256));
    // The hash of an image is its manifest's, as in Istio, or that of the module.
    const hash = (digest: string) => digest.slice("sha256:".length);
    for (const asked of [hash(own), sha256])
      expect(await fetched({ ...image("team/index:1"), sha256: asked })).toMatchObject({ sha256 });
    await expect(fetched({ ...image("team/index:1"), sha256: hash(other) })).rejects.toThrow("is asked for");
    await expect(fetched(image("team/of-others:1"))).rejects.toThrow("is no module of WebAssembly");
  });

  it("is refused where an image has none, has another content than its digest, or is too large unpacked", async () => {
    registry.push("bad/nothing", "1", [await tarLayer("other.wasm", code)]);
    await expect(fetched(image("bad/nothing:1"))).rejects.toThrow("holds no file plugin.wasm");
    registry.push("bad/type", "1", [{ mediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", bytes: code }]);
    await expect(fetched(image("bad/type:1"))).rejects.toThrow("has no layer with a module");
    registry.push("bad/tar", "1", [{ ...(await tarLayer("x", code)), bytes: code }]);
    await expect(fetched(image("bad/tar:1"))).rejects.toThrow("is no tar that could be unpacked");
    registry.push("bad/bomb", "1", [await tarLayer("filler", new Uint8Array(100 * 1024 * 1024))]);
    await expect(fetched(image("bad/bomb:1"))).rejects.toThrow("unpacked, has more than 80 MiB");
    registry.push("bad/large", "1", [await tarLayer("plugin.wasm", new Uint8Array(65 * 1024 * 1024))]);
    await expect(fetched(image("bad/large:1"))).rejects.toThrow("has more than 64 MiB");
    const digest = registry.push("bad/digest", "1", [moduleLayer(code)]);
    registry.file(`/v2/bad/digest/blobs/sha256:${sha256}`, new TextEncoder().encode("exchanged"));
    await expect(fetched(image(`bad/digest@${digest}`))).rejects.toThrow("its manifest has");
    await expect(fetched(image(`bad/digest@sha256:${"0".repeat(64)}`))).rejects.toThrow("answers 404");
  }, 120_000);

  it("is not asked for in clear text without a hash, in a private network, and as what names no image", async () => {
    await expect(fetched({ url: "http://example.com/a.wasm" })).rejects.toThrow("write its sha256, or https");
    await expect(fetched(image("a:1"), tools(registry, new Set()))).rejects.toThrow("name localhost in");
    await expect(
      fetched({ url: `http://${registry.host}/a.wasm`, sha256 }, tools(registry, new Set())),
    ).rejects.toThrow("name localhost in");
    for (const url of [
      "oci://",
      "oci://a b/c",
      "oci://ghcr.io/UPPER:1",
      "oci://ghcr.io/a:b:c",
      "oci://ghcr.io/a@md5:1",
    ])
      await expect(fetched({ url })).rejects.toThrow("names no image");
  });

  it("ends at 64 MiB, though its length is not told", async () => {
    const of = tools();
    registry.answer((_request, response) => {
      response.on("error", () => {});
      const more = () => {
        while (response.write(Buffer.alloc(1024 * 1024)));
        response.once("drain", more);
      };
      more();
    });
    await expect(fetched({ url: `https://${registry.host}/endless` }, of)).rejects.toThrow("has more than 64 MiB");
    registry.answer(undefined);
  }, 120_000);

  it("is fetched once, or asked for again by tag where it is to be newest, and is fetched again when it is gone", async () => {
    registry.push("team/moving", "latest", [moduleLayer(code)]);
    const of = tools();
    const once = image("team/moving:latest");
    const always = { ...once, always: true } as const;
    const first = await fetched(always, of);
    const asks = async (wanted: WantedModule, known = first) => {
      const before = registry.asked.length;
      const { sha256: found } = await fetchModule(wanted, known, of);
      return [found, registry.asked.length - before];
    };
    expect(await asks(once)).toEqual([sha256, 0]);
    expect(await asks(always)).toEqual([sha256, 1]);
    const next = new Uint8Array([...code, 0, 1, 0]);
    registry.push("team/moving", "latest", [moduleLayer(next)]);
    expect(await asks(once)).toEqual([sha256, 0]);
    expect(await asks(always)).toEqual([digestOf(next), 2]);
    await of.store.delete(blobKey(sha256));
    expect(await asks(once)).toEqual([digestOf(next), 2]);
  });
});

describe.each(["bearer", "basic"] as const)("an image of a registry that asks who comes (%s)", (how) => {
  let own: TestRegistry;
  beforeAll(async () => {
    own = await openRegistry();
    own.push("private", "1", [moduleLayer(code)]);
    own.protect(how, "me:pass word");
  });
  afterAll(() => own.close());

  const url = () => `oci://${own.host}/private:1`;
  const wanted = () => ({ url: url(), pullSecret: "shop/pull" });
  async function toolsWith(auths: object | undefined) {
    const of = tools(own);
    if (auths !== undefined) {
      const values = { ".dockerconfigjson": Buffer.from(JSON.stringify({ auths })).toString("base64") };
      await of.secrets.put({ namespace: "shop", name: "pull" }, { values });
    }
    return of;
  }

  it("is pulled with the credentials of the Secret, in each of their forms", async () => {
    const auth = Buffer.from("me:pass word").toString("base64");
    for (const entry of [{ auth }, { username: "me", password: "pass word" }])
      for (const place of [own.host, `https://${own.host}/v1/`])
        expect(await fetched(wanted(), await toolsWith({ [place]: entry }))).toMatchObject({ sha256 });
  });

  it("says what is missing, and nothing of what is in the Secret", async () => {
    await expect(fetched({ url: url() }, tools(own))).rejects.toThrow(
      "name a Secret with credentials in imagePullSecret",
    );
    await expect(fetched(wanted(), await toolsWith(undefined))).rejects.toThrow("was not given");
    await expect(fetched(wanted(), await toolsWith({ "ghcr.io": { auth: "" } }))).rejects.toThrow("no credentials for");
    const wrong = await toolsWith({ [own.host]: { username: "me", password: "hunter2" } });
    await expect(fetched(wanted(), wrong)).rejects.toThrow(/^(?!.*hunter2).*look at the credentials/);
    const { secrets: _secrets, ...without } = wrong;
    await expect(fetchModule(wanted(), undefined, without)).rejects.toThrow("PORTOLAN_SECRETS_KEY");
  });
});
