import { byCodePoint } from "../../../config/diagnostic.ts";
import { type Answered, type Asked, found, matcher, pageOf } from "../asked.ts";
import { type Browser, browsed } from "../browsed.ts";
import { noSuchClass } from "../classes.ts";
import type { MeshServices } from "../schema/mesh.ts";
import { namespaceOfHost, outboundOf } from "./clusters-of-class.ts";
import { createRouteReader } from "./routes-of-class.ts";

/** Services of a namespace as one class of callers has them: its ports and subsets, and where its routes lead, with their weights. */
export async function answerMeshServices(browser: Browser, asked: Asked): Promise<Answered<MeshServices>> {
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
      if (outbound === undefined || namespaceOfHost(outbound.host) !== namespace || !isMeant(outbound.host)) continue;
      const service = services.get(outbound.host) ?? { ports: new Set(), subsets: new Set() };
      services.set(outbound.host, service);
      service.ports.add(outbound.port);
      if (outbound.subset !== "") service.subsets.add(outbound.subset);
    }
  }
  const { routes, isPartial } = await createRouteReader(browser.reader).routes(loaded, proxyClass);
  const { offset, limit } = pageOf(asked);
  const all = [...services].sort(([a], [b]) => byCodePoint(a, b));
  return found({
    root: loaded.hash,
    class: id,
    namespace,
    total: all.length,
    isPartial,
    services: all.slice(offset, offset + limit).map(([host, { ports, subsets }]) => ({
      host,
      ports: [...ports].sort((a, b) => a - b).slice(0, 20),
      subsets: [...subsets].sort(byCodePoint).slice(0, 20),
      routes: routes.filter((route) => route.host === host || route.to.some((to) => to.host === host)).slice(0, 20),
    })),
  });
}
