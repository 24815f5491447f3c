import { fieldsOf, stringsOf } from "../../base/untyped.ts";
import type { RootObject, RootObjects } from "../../xds/explain/root-object.ts";

/**
 * The services whose endpoints some objects are: EndpointSlices by their label, Endpoints by their name, pods by the labels that a
 * service selects. No resource names these objects, since an endpoint is made of addresses.
 *
 * @returns keys of services
 */
export function servicesBehind(objects: readonly RootObject[], { all }: Pick<RootObjects, "all">): ReadonlySet<string> {
  const services = all.filter(({ kind, config }) => kind === "Service" && config === undefined);
  return new Set(
    objects.flatMap((object) => services.filter((service) => isBehind(object, service)).map(({ key }) => key)),
  );
}

function isBehind({ kind, namespace, name, labels }: RootObject, service: RootObject): boolean {
  if (namespace !== service.namespace) return false;
  switch (kind) {
    case "Endpoints":
      return name === service.name;
    case "EndpointSlice":
      return labels["kubernetes.io/service-name"] === service.name;
    case "Pod": {
      const selector = Object.entries(stringsOf(fieldsOf(service.spec).selector));
      return selector.length > 0 && selector.every(([label, value]) => labels[label] === value);
    }
    default:
      return false;
  }
}
