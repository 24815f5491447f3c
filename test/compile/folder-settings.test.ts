import { describe, expect, it } from "vitest";
import { PortolanError } from "../../lib/base/diagnostic.ts";
import { createWorldRecompiler } from "../../lib/compile/recompile.ts";
import { createShardWriter } from "../../lib/compile/shards/write-shard.ts";
import { memoryStore } from "../../lib/storage/memory.ts";

const service =
  "apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: shop}\nspec: {clusterIP: 10.0.0.1, ports: [{name: http, port: 80}]}\n";
const good = 'compat: {release: "1.31"}\nproxyBuild: envoy\n';

/** A store, and what a process that has just started compiles of a `portolan.yaml` in it. */
function folder() {
  const store = memoryStore();
  return async (text: string) => {
    const files = { "a.yaml": service, "portolan.yaml": text };
    await createShardWriter(store, "main")(Object.entries(files).map(([file, one]) => ({ file, text: one })));
    try {
      const { compiled, diagnostics } = await createWorldRecompiler({ store })();
      const { compat, proxyBuild } = compiled.loaded.settings;
      const codes = diagnostics.map(({ code }) => code).filter((code) => code !== "endpoints-unknown");
      return [compat?.release, proxyBuild, ...codes.sort()];
    } catch (cause) {
      if (!(cause instanceof PortolanError)) throw cause;
      return [cause.message.split(":")[0], ...cause.diagnostics.map(({ code }) => code)];
    }
  };
}

const slips = [
  ["a misspelt section", 'compatt: {release: "1.31"}\nproxyBuild: istio\n', "unknown-field"],
  ["a release that is none", 'compat: {release: "1.3"}\nproxyBuild: istio\n', "invalid-value"],
  [
    "a switch of another form",
    'compat: {release: "1.30", switches: {PILOT_ENABLE_ALPHA_GATEWAY_API: [1]}}\nproxyBuild: istio\n',
    "invalid-value",
  ],
] as const;

describe("a portolan.yaml with errors", () => {
  it.each(slips)("publishes nothing where no valid form is known: %s", async (_what, text, code) => {
    const compile = folder();
    expect(await compile(text)).toEqual(["nothing was published", code]);
    expect(await compile(good)).toEqual(["1.31", "envoy"]);
  });

  it.each(slips)(
    "keeps the last valid form of what has the error, and takes the rest: %s",
    async (_what, text, code) => {
      const compile = folder();
      await compile(good);
      expect(await compile(text)).toEqual(["1.31", "istio", ...[code, "last-valid-served"].sort()]);
      expect(await compile("proxyBuild: auto\n")).toEqual([undefined, "auto"]);
    },
  );

  it("keeps all of it where the text cannot be read", async () => {
    const compile = folder();
    expect(await compile("compat: {release\n")).toEqual(["nothing was published", "unreadable-document"]);
    await compile(good);
    expect(await compile("compat: {release\n")).toEqual(["1.31", "envoy", "last-valid-served", "unreadable-document"]);
  });
});
