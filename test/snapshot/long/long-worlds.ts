import { encodeResource } from "../../../lib/compile/encode/encode-resource.ts";
import type { Memo } from "../../../lib/incremental/memo.ts";
import type { CompiledResource, CompiledWorld } from "../../../lib/snapshot/compiled.ts";
import { worldOf } from "../worlds.ts";

const namespaces = 8;

/**
 * A world of eight classes, one a namespace, as `<namespace>.default` in the node index. Each has a table of all hosts, in which
 * its own namespace's answer to their short names, too; and a short table.
 *
 * @param timeout of the routes to `app-0` in `team-0`
 */
export function longWorld(timeout: string, memo: Memo, withBinary = true): CompiledWorld {
  const hosts = Array.from({ length: 800 }, (_, at) => hostOf(at, at === 0 ? timeout : "1s"));
  hosts.sort((a, b) => (a.name < b.name ? -1 : 1));
  const encode = (type: "listeners" | "routes", name: string, json: object): CompiledResource => {
    const from = hosts.map((host) => ({ group: "", kind: "Service", namespace: host.namespace, name: host.app }));
    return encodeResource({ name, json: { name, ...json }, from }, { type, withBinary }, memo);
  };
  const ids = Array.from({ length: namespaces }, (_, at) => `team-${at}`);
  const classes = ids.map((id) => {
    const virtualHosts = hosts.map(({ namespace, own, common }) => (namespace === id ? own : common));
    const shape = {
      clusters: [],
      endpoints: [],
      listeners: [[encode("listeners", "0.0.0.0_80", {})]],
      routes: [[encode("routes", "8080", {}), encode("routes", "80", { virtualHosts })].toReversed()],
    };
    return { id, stream: shape, poll: shape };
  });
  return { ...worldOf({}), classes, nodes: ids.map((id) => ({ keys: [`${id}.default`], classId: id })) };
}

/** Kept, so that hosts that say the same are the same object from world to world. */
const made = new Map<string, ReturnType<typeof makeHost>>();

function hostOf(at: number, timeout: string) {
  const known = made.get(`${at} ${timeout}`) ?? makeHost(at, timeout);
  made.set(`${at} ${timeout}`, known);
  return known;
}

function makeHost(at: number, timeout: string) {
  const namespace = `team-${at % namespaces}`;
  const host = `app-${at}.${namespace}.svc.cluster.local`;
  const common = {
    name: `${host}:80`,
    domains: [host, `${host}.`],
    routes: [{ match: { prefix: "/" }, route: { cluster: `outbound|80||${host}`, timeout } }],
  };
  return {
    app: `app-${at}`,
    namespace,
    name: common.name,
    common,
    own: { ...common, domains: [...common.domains, `app-${at}`] },
  };
}

/** The table of a class that is long. */
export function longTable(world: CompiledWorld, classId: string): CompiledResource {
  const shape = world.classes.find(({ id }) => id === classId)?.poll;
  const table = shape?.routes.flat().find(({ name }) => name === "80");
  if (table === undefined) throw new Error(`no class ${classId}`);
  return table;
}
