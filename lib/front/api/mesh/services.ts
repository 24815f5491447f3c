import { byCodePoint } from "../../../base/diagnostic.ts";
import { type Answered, type Asked, found, matcher, pageOf } from "../asked.ts";
import { type Browser, browsed } from "../browsed.ts";
import type { MembersOfRoots } from "../class-members.ts";
import { noSuchClass } from "../classes.ts";
import type { MeshServices } from "../schema/mesh.ts";
import { namespaceOfHost, outboundOf } from "./clusters-of-class.ts";
import { createRouteReader } from "./routes-of-class.ts";
import { seenBy } from "./seen-by.ts";

/** Every namespace at once, where none is called so. */
const anyNamespace = "*";

/**
 * Services of a namespace as one class of callers has them: their ports and subsets, and where its routes lead, with their weights. Who asks
 * for one by its whole host name gets that one alone, with all who see it.
 */
export async function answerMeshServices(
  browser: Browser,
  membersOf: MembersOfRoots,
  asked: Asked,
): Promise<Answered<MeshServices>> {
  const version = await browsed(browser, asked);
  if (version.kind === "refused") return version;
  const loaded = version.value;
  const id = asked.value("class") ?? "";
  const proxyClass = loaded.classes.get(id);
  if (proxyClass === undefined) return noSuchClass(id);
  const namespace = asked.value("namespace") ?? "";
  const isMeant = matcher(asked.value("q"));
  const services = new Map<string, { readonly ports: Set<number>; readonly subsets: Set<string> }>();
  const tree = await browser.reader.tree(loaded.root, "clusters", proxyClass.stream.clusters);
  for (const segment of tree.segments) {
    for (const name of (await browser.reader.entries(segment)).keys()) {
      const outbound = outboundOf(name);
      if (outbound === undefined || !isMeant(outbound.host)) continue;
      if (namespace !== anyNamespace && namespaceOfHost(outbound.host) !== namespace) continue;
      const service = services.get(outbound.host) ?? { ports: new Set(), subsets: new Set() };
      services.set(outbound.host, service);
      service.ports.add(outbound.port);
      if (outbound.subset !== "") service.subsets.add(outbound.subset);
    }
  }
  const { routes, isPartial } = await createRouteReader(browser.reader).routes(loaded, proxyClass);
  const { offset, limit } = pageOf(asked);
  const alone = (asked.value("q") ?? "").toLowerCase();
  const all = [...services]
    .filter(([host]) => host === alone || !services.has(alone))
    .sort(([a], [b]) => byCodePoint(a, b));
  const seen = services.has(alone) ? await seenBy(browser, membersOf, loaded, alone) : undefined;
  return found({
    root: loaded.hash,
    class: id,
    namespace,
    total: all.length,
    isPartial: isPartial || seen?.isPartial === true,
    ...(seen === undefined ? {} : { seenBy: seen.callers }),
    services: all.slice(offset, offset + limit).map(([host, { ports, subsets }]) => ({
      host,
      ports: [...ports].sort((a, b) => a - b).slice(0, 20),
      subsets: [...subsets].sort(byCodePoint).slice(0, 20),
      routes: routes.filter((route) => route.host === host || route.to.some((to) => to.host === host)).slice(0, 20),
    })),
  });
}
