import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDevCompiler } from "../../../lib/cli/dev/dev-compiler.ts";
import { readWithheldSources } from "../../../lib/compile/isolation/withheld-sources.ts";
import { writeShard } from "../../../lib/compile/shards/write-shard.ts";
import { noObserver } from "../../../lib/compile/telemetry/observer.ts";
import { openStore } from "../../../lib/storage/open-store.ts";
import { shop } from "../../compile/large-object.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "portolan-dev-compiler-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("the compile process of portolan dev", () => {
  it("holds no source back when it is ended in the midst of a compile", async () => {
    const store = await openStore(folder, {});
    await writeShard(store, "main", [shop("10.0.0.1")]);
    const compiler = createDevCompiler({
      store,
      where: folder,
      settings: {
        sources: ["main"],
        keyring: join(folder, "keys.json"),
        certificates: "sds",
        pollDelayMs: 100,
        binaryForms: false,
        allowEmpty: false,
        json: false,
      },
      observer: {
        ...noObserver,
        begin() {
          compiler.close();
          return noObserver.begin();
        },
      },
      onWaiting: () => {},
    });
    await expect(compiler.publish()).rejects.toThrow("dev is ending");
    expect(await readWithheldSources(store)).toEqual([]);
  }, 60_000);
});
