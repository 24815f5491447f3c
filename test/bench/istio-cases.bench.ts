/** The inputs of Istio's own generation benchmarks (shared/bench/istio-cases), one proxy each, beside Istio 1.30.3's figures. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildMesh } from "../../lib/mesh/build-mesh.ts";
import { createMemo } from "../../lib/mesh/memo.ts";
import { generate } from "../../lib/xds/generate.ts";
import { resourceTypes } from "../../lib/xds/resource.ts";
import { loadCase } from "../conformance/load-case.ts";
import { time, yardstick } from "./yardstick.ts";

const root = fileURLToPath(new URL("../../../shared/bench/istio-cases", import.meta.url));

/** Istio's total for one proxy in ms, cold and warm, from table A of the folder's README; push context aside. */
const istio: Readonly<Record<string, string>> = {
  authorizationpolicy: "4.41 / 2.20",
  auto: "8.74 / 8.69",
  disabled: "0.94 / 0.77",
  empty: "39.9 / 13.5",
  externalname: "1.19 / 0.99",
  gateways: "95.4 / 70.4",
  "gateways-shared": "181 / 124",
  http: "4.35 / 0.98",
  "knative-gateway": "4.84 / 4.68",
  "serviceentry-workloadentry": "50.9 / 4.61",
  strict: "0.70 / 0.50",
  tcp: "4.71 / 1.50",
  "telemetry-api": "13.6 / 4.48",
  tls: "4.61 / 1.98",
  virtualservice: "6.16 / 1.91",
};

/** Prints a line for each case: mesh and all four types, nothing remembered. */
export async function istioCasesBench(print: (line: string) => void = console.log): Promise<void> {
  const yard = await yardstick();
  print(`yardstick: ${yard.medianMs.toFixed(1)} ms`);
  for (const name of readdirSync(root).filter((entry) => existsSync(join(root, entry, "input.yaml")))) {
    const world = loadCase(join(root, name));
    const [proxy] = world.proxies;
    if (proxy === undefined) continue;
    const all = () => {
      const memo = createMemo();
      return generate(buildMesh(world, memo).value, proxy, memo).value;
    };
    const counts = resourceTypes.map((type) => all()[type].length);
    const { medianMs, minMs } = await time(all, 15, 5);
    print(
      `istio case ${name}: ${counts.join("/")} resources, cold ${medianMs.toFixed(2)} ms, best ${minMs.toFixed(2)}; Istio ${istio[name]}`,
    );
  }
}
