import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defaultWorldOptions, worldOf } from "../../lib/compile/world-of.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";
import type { GatewayApiSettings } from "../../lib/config/gateway-api/gateway-api-settings.ts";
import { createMemo } from "../../lib/mesh/memo/memo.ts";
import type { World } from "../../lib/mesh/world.ts";
import { type NamedProxy, proxyOfNamed } from "../named-proxy.ts";

/**
 * The world of a case, with exactly the proxies that it names.
 *
 * @param change of the text of its objects
 */
export function loadCase(path: string, change = (input: string): string => input): World {
  const clusters = join(path, "clusters");
  const names = [
    ...["input.yaml", "mesh.yaml", "networks.yaml"].filter((name) => existsSync(join(path, name))),
    ...(existsSync(clusters) ? readdirSync(clusters).map((name) => `clusters/${name}`) : []),
  ];
  const files = names.map((file) => {
    const text = readFileSync(join(path, file), "utf8");
    return { file, text: file === "input.yaml" ? change(text) : text };
  });
  // Some of Istio's own inputs never went through a server.
  const loaded = readFiles(files, { names: "free" });
  const options = { ...defaultWorldOptions, compat: "istio", gatewayApi: gatewayApiOf(path) } as const;
  const world = worldOf(loaded, options, createMemo()).value;
  const nodes: readonly NamedProxy[] = JSON.parse(readFileSync(join(path, "nodes.json"), "utf8"));
  const proxies = nodes.flatMap((node) => proxyOfNamed(node, world.registry, world.meshConfig).value ?? []);
  return { ...world, proxies };
}

/** What `features.env` switches on; a case brings all Secrets that there are. */
function gatewayApiOf(path: string): Partial<GatewayApiSettings> {
  const file = join(path, "features.env");
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  return { secrets: "sources", alphaKinds: lines.includes("PILOT_ENABLE_ALPHA_GATEWAY_API=true") };
}
