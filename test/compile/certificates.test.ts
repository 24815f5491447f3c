import { describe, expect, it } from "vitest";
import { createFileCompiler } from "../../lib/compile/compile-files.ts";
import { defaultWorldOptions } from "../../lib/compile/world/world-of.ts";
import { readFolder } from "../../lib/config/folder/folder.ts";
import { resourcesIn } from "../../lib/snapshot/compiled.ts";

const sample = new URL("../../samples/bookshop", import.meta.url).pathname;

async function textsWith(certificates: "sds" | "files"): Promise<string> {
  const compiled = createFileCompiler({ ...defaultWorldOptions, certificates })(await readFolder(sample), []);
  expect(compiled.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  return compiled.value.classes
    .flatMap(({ stream, poll }) =>
      [stream, poll].flatMap(({ clusters, listeners }) => resourcesIn([...clusters, ...listeners])),
    )
    .map(({ text }) => text)
    .join("\n");
}

describe("where the certificates of mesh mTLS come from", () => {
  it("is an agent that speaks SDS unless told otherwise", async () => {
    const texts = await textsWith("sds");
    expect(texts).toContain('"clusterName":"sds-grpc"');
    expect(texts).not.toContain("/etc/certs");
  });

  it("is files that Envoy watches where the world says so", async () => {
    const texts = await textsWith("files");
    expect(texts).toContain('"path":"/etc/certs/default.json"');
    expect(texts).toContain('"path":"/etc/certs/ROOTCA.json"');
    expect(texts).not.toContain('"clusterName":"sds-grpc"');
  });
});
