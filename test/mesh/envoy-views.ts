import type { Memo } from "../../lib/incremental/memo.ts";
import type { Mesh } from "../../lib/mesh/mesh.ts";
import type { Proxy } from "../../lib/mesh/proxy/proxy.ts";
import type { EnvoyViews } from "../../lib/mesh/views/view-columns.ts";
import { viewsOf } from "../../lib/mesh/views/views-of.ts";

/** The views of a proxy that is an Envoy. */
export function envoyViewsOf(mesh: Mesh, proxy: Proxy, memo: Memo): EnvoyViews {
  const views = viewsOf(mesh, proxy, memo);
  if (views.kind !== "envoy") throw new Error(`${proxy.id} is no Envoy`);
  return views;
}
