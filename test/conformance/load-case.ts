import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildMember, type ProxyBuild } from "../../lib/base/proxy-build.ts";
import { defaultWorldOptions, worldOf } from "../../lib/compile/world/world-of.ts";
import type { Release } from "../../lib/config/compat/compat-settings.ts";
import { readSwitches, type Switches } from "../../lib/config/compat/switches.ts";
import { readFiles } from "../../lib/config/folder/directory.ts";
import { createMemo } from "../../lib/incremental/memo.ts";
import type { World } from "../../lib/mesh/world.ts";
import { type NamedProxy, proxyOfNamed } from "../named-proxy.ts";

/** Of the suites that were recorded from Istio 1.30.3. */
const usualRelease: Release = "1.30";

export interface CaseReading {
  /** Of the text of its objects; absent: none. */
  readonly change?: (input: string) => string;
  /** Whose build of Envoy its proxies say that they are; absent: they say nothing. */
  readonly build?: ProxyBuild;
  /** Which release of Istio it was recorded from; absent: 1.30. */
  readonly release?: Release;
}

/** The world of a case, with exactly the proxies that it names. */
export function loadCase(path: string, reading: CaseReading = {}): World {
  const { change = (input: string): string => input, build, release = usualRelease } = reading;
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
  // A case brings all Secrets that there are.
  const gatewayApi = { secrets: "sources" } as const;
  const options = { ...defaultWorldOptions, compat: "istio", release, switches: switchesOf(path), gatewayApi } as const;
  const world = worldOf(loaded, options, createMemo()).value;
  const nodes: readonly NamedProxy[] = JSON.parse(readFileSync(join(path, "nodes.json"), "utf8"));
  const said = build === undefined ? {} : { [buildMember]: build };
  const proxies = nodes.flatMap(
    (node) =>
      proxyOfNamed({ ...node, metadata: { ...node.metadata, ...said } }, world.registry, world.meshConfig).value ?? [],
  );
  return { ...world, proxies };
}

/** What `features.env` says. @throws where it says what no switch can be */
function switchesOf(path: string): Switches {
  const file = join(path, "features.env");
  if (!existsSync(file)) return {};
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "");
  const written = lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const);
  const { value, findings } = readSwitches(Object.fromEntries(written), []);
  if (findings.length > 0) throw new Error(`${file}: ${JSON.stringify(findings)}`);
  return value;
}
