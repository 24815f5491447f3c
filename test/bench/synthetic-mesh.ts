import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { NamedProxy } from "../named-proxy.ts";

/** The folder that the generator and Istio's cases lie in; it is no part of this repository. */
export const sharedBench = new URL("../../../shared/bench/", import.meta.url);
const generator = new URL("mesh-gen.mjs", sharedBench);

export const sharedBenchExists = (): boolean => existsSync(generator);

export interface SyntheticMesh {
  /** JSON documents between YAML's markers. */
  readonly text: string;
  /** One sidecar that sees everything, one gateway. */
  readonly named: readonly NamedProxy[];
}

/** The synthetic mesh of so many services; the same number, the same bytes. */
export function syntheticMesh(services: number): SyntheticMesh {
  const folder = mkdtempSync(join(tmpdir(), "portolan-bench-"));
  try {
    execFileSync(process.execPath, [fileURLToPath(generator), "--services", String(services), "--out", folder]);
    const named: readonly NamedProxy[] = JSON.parse(readFileSync(join(folder, "nodes.json"), "utf8"));
    return { text: readFileSync(join(folder, "input.yaml"), "utf8"), named };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
