import type { Config } from "../../../config/config.ts";
import type { CommonRoute } from "../../../config/gateway-api/http-route.ts";
import type { Memo } from "../../../incremental/memo.ts";
import type { ConfigsOf } from "../../index/configs-by-kind.ts";
import { grantsOf } from "../grants.ts";
import { backendRefsOf, parentRefsOf, type RouteConfig } from "../routes/route-kinds.ts";
import type { GrantedSecret } from "../secret-grants.ts";
import { isBeside } from "./backend-resource.ts";

const group = "gateway.networking.k8s.io";

/**
 * Key pairs that XBackends name, for the Gateways whose routes lead there. The author of a route names its Gateways, and the author of an
 * XBackend its Secret, so that the Gateways need no ReferenceGrant. A route of another namespace needs one for the XBackend.
 */
export function backendSecrets(of: ConfigsOf, memo: Memo): readonly GrantedSecret[] {
  const secrets = new Map(
    of("XBackend.gateway.networking.x-k8s.io").flatMap(({ meta, spec }) => {
      const secret = spec.tls.clientCertificateRef;
      return secret !== undefined && isBeside(secret, meta.namespace)
        ? [[`${meta.namespace}/${meta.name}`, secret.name] as const]
        : [];
    }),
  );
  if (secrets.size === 0) return [];
  const isGranted = grantsOf(memo, { configs: of(`ReferenceGrant.${group}`) });
  const gatewayOfSet = new Map(
    of(`ListenerSet.${group}`).map(({ meta, spec }) => [
      `${meta.namespace}/${meta.name}`,
      spec.parentRef.namespace ?? meta.namespace,
    ]),
  );
  return routesIn(of).flatMap((route) => {
    const from = route.config.meta.namespace;
    const gateways = new Set(parentRefsOf(route).flatMap((ref) => gatewayNamespace(ref, from, gatewayOfSet) ?? []));
    if (gateways.size === 0) return [];
    return backendRefsOf(route).flatMap(({ group: ofBackend, kind, name, namespace: to = from }) => {
      const secret = kind === "XBackend" ? secrets.get(`${to}/${name}`) : undefined;
      const mayName =
        to === from ||
        isGranted({ kind: route.kind, namespace: from }, { group: ofBackend, kind, namespace: to, name });
      if (secret === undefined || !mayName) return [];
      return [...gateways].map((gateway): GrantedSecret => ({ from: gateway, to, name: secret }));
    });
  });
}

type ParentRef = NonNullable<CommonRoute["parentRefs"]>[number];

function gatewayNamespace(
  { group: ofParent, kind, name, namespace }: ParentRef,
  own: string,
  gatewayOfSet: ReadonlyMap<string, string>,
): string | undefined {
  if (ofParent !== group) return undefined;
  if (kind === "Gateway") return namespace ?? own;
  return kind === "ListenerSet" ? gatewayOfSet.get(`${namespace ?? own}/${name}`) : undefined;
}

function routesIn(of: ConfigsOf): readonly RouteConfig[] {
  const all = <K extends RouteConfig["kind"], Spec>(kind: K, configs: readonly Config<Spec>[]) =>
    configs.map((config) => ({ kind, config }));
  return [
    ...all("HTTPRoute", of(`HTTPRoute.${group}`)),
    ...all("GRPCRoute", of(`GRPCRoute.${group}`)),
    ...all("TLSRoute", of(`TLSRoute.${group}`)),
    ...all("TCPRoute", of(`TCPRoute.${group}`)),
  ];
}
