import { listIn, memberOf } from "../../base/untyped.ts";
import type { RootObject, RootObjects } from "../../xds/explain/root-object.ts";

/** A name of a pod behind a headless Service. */
interface PodName {
  readonly pod: string;
  readonly service: string;
  readonly namespace: string;
}

/**
 * The address behind the name of one pod of a headless Service, `tunnel-0.tunnel.shop`, with or without `svc` and the mesh's domain: an
 * EndpointSlice of that Service says it, an Endpoints object, or the pod itself.
 *
 * @param namespace of the node, for `tunnel-0.tunnel`; "" where it is not known
 * @returns undefined for every other name
 */
export function podAddress({ all }: RootObjects, host: string, namespace: string): string | undefined {
  const [pod = "", service = "", ofHost = namespace, svc = "svc"] = host.toLowerCase().split(".");
  if (service === "" || svc !== "svc") return undefined;
  const name: PodName = { pod, service, namespace: ofHost };
  for (const object of all) {
    const address = object.namespace === ofHost ? addressIn(object, name) : undefined;
    if (address !== undefined) return address;
  }
  return undefined;
}

function addressIn({ kind, name, labels, spec, written }: RootObject, wanted: PodName): string | undefined {
  const { pod, service } = wanted;
  const isPod = (one: unknown) => (memberOf(one, "hostname") ?? memberOf(memberOf(one, "targetRef"), "name")) === pod;
  switch (kind) {
    case "EndpointSlice": {
      if (labels["kubernetes.io/service-name"] !== service) return undefined;
      return textOf(listIn(listIn(written, "endpoints").find(isPod), "addresses")[0]);
    }
    case "Endpoints": {
      const subsets = name === service ? listIn(written, "subsets") : [];
      return textOf(memberOf(subsets.flatMap((one) => listIn(one, "addresses")).find(isPod), "ip"));
    }
    case "Pod": {
      const isNamed = memberOf(spec, "subdomain") === service && (memberOf(spec, "hostname") ?? name) === pod;
      return isNamed ? textOf(memberOf(memberOf(written, "status"), "podIP")) : undefined;
    }
    default:
      return undefined;
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
