/** How soon a new service and the route to it, saved together, are in force in a real Envoy whose polls `portolan dev` holds. */
import { openBookshop, rejections, startGateway } from "../e2e/bookshop.ts";
import { startDev } from "../e2e/dev-process.ts";
import { saveNewServices } from "../e2e/new-services.ts";
import type { BenchOptions } from "./report.ts";

/** Half of the changes are to be in force so soon. */
const aimMs = 700;

/** As `portolan dev` compiles, and says on its bootstraps. */
const pollDelayMs = 100;

export async function switchBench({ report, quick }: BenchOptions): Promise<void> {
  const shop = await openBookshop();
  const dev = await startDev(shop.folder, ["--certificates", "none"]);
  const envoy = await startGateway(dev.url, { certificates: "none", pollDelayMs });
  try {
    const { inForceMs, failures, requests } = await saveNewServices(shop, quick ? 10 : 200);
    const sorted = inForceMs.toSorted((a, b) => a - b);
    const part = (share: number) => Math.round(sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN);
    report.table("a new service and the route to it, saved together: until the route answers", [
      { edits: sorted.length, "p50 ms": part(0.5), "p90 ms": part(0.9), "p99 ms": part(0.99), "max ms": part(1) },
    ]);
    const p50 = part(0.5);
    const isMet = p50 <= aimMs && failures.size === 0;
    report.line(`aim: p50 of ${aimMs} ms at most and no failed request: ${isMet ? "met" : "not met"}`);
    const failed = [...failures].map(([what, times]) => `${times} × ${what}`).join("; ");
    report.line(`${requests} requests meanwhile, failed: ${failed || "none"}`);
    const refused = await rejections(envoy);
    report.line(`refused by Envoy: ${refused.join(", ") || "nothing"}`);
  } finally {
    await envoy.stop();
    await dev.stop();
    await shop.close();
  }
}
