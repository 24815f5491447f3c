import type { R2Bucket } from "@cloudflare/workers-types";
import { createTestHarness } from "wrangler";
import { r2Store } from "../../lib/storage/r2.ts";
import { storeContract } from "./contract.ts";

storeContract("R2", async () => {
  const harness = createTestHarness({ workers: [{ configPath: new URL("../../wrangler.toml", import.meta.url) }] });
  await harness.listen();
  const { SNAPSHOTS } = await harness.getWorker<{ readonly SNAPSHOTS: R2Bucket }>().getEnv();
  return { store: r2Store(SNAPSHOTS, "mesh/"), close: () => harness.close() };
});
