import type { CompiledWorld } from "../../lib/snapshot/compiled.ts";
import { resource } from "../snapshot/worlds.ts";

const teams = Array.from({ length: 20 }, (_, at) => `team-${at}`);
const hostOf = (at: number) => `app-${at}.${teams[Math.floor(at / 50)]}.svc.cluster.local`;

/**
 * 1,000 services in 20 namespaces, as a published version has them: a gateway that sees all, and sidecars of each namespace that see it and two
 * more. Every fifth service is split in two versions.
 */
export function largeMesh(): CompiledWorld {
  const hosts = Array.from({ length: 1_000 }, (_, at) => ({
    host: hostOf(at),
    team: Math.floor(at / 50),
    isSplit: at % 5 === 0,
  }));
  const classFor = (id: string, sees: (team: number) => boolean) => {
    const seen = hosts.filter(({ team }) => sees(team));
    const clusters = seen.flatMap(({ host, isSplit }) =>
      (isSplit ? ["", "v1", "v2"] : [""]).map((subset) => `outbound|80|${subset}|${host}`),
    );
    const split = seen.filter(({ isSplit }) => isSplit);
    const table = {
      ...resource("routes", "80", ""),
      text: JSON.stringify({ name: "80", virtualHosts: split.map(({ host }) => virtualHost(host)) }),
    };
    const shape = {
      clusters: [clusters.sort().map((name) => resource("clusters", name, ""))],
      endpoints: [],
      listeners: [],
      routes: [[table]],
    };
    return { id, stream: shape, poll: shape };
  };
  const classes = [
    classFor("router-edge", () => true),
    ...teams.map((name, at) =>
      classFor(`sidecar-${name}`, (team) => [at, (at + 1) % 20, (at * 7 + 3) % 20].includes(team)),
    ),
  ].sort((a, b) => (a.id < b.id ? -1 : 1));
  return {
    classes,
    classifier: { attributes: ["namespace", "type"], labels: {}, classes: {}, defaults: {} },
    nodes: [
      { keys: ["edge-1.istio-system"], classId: "router-edge" },
      ...teams.map((name) => ({ keys: [`app-1.${name}`], classId: `sidecar-${name}` })),
    ],
    diagnostics: [],
    sources: [],
    compiler: "test",
  };
}

const virtualHost = (host: string) => ({
  name: `${host}:80`,
  domains: [host],
  routes: [
    {
      match: { prefix: "/" },
      route: {
        weightedClusters: {
          clusters: [
            { name: `outbound|80|v1|${host}`, weight: 90 },
            { name: `outbound|80|v2|${host}`, weight: 10 },
          ],
        },
      },
    },
  ],
});
