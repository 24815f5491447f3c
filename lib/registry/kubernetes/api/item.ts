import { z } from "zod";
import { groupVersion } from "../../../config/group-version.ts";
import type { KubernetesObject } from "../object.ts";
import type { ApiResource } from "./resource.ts";

const item = z.looseObject({
  apiVersion: z.string().optional(),
  kind: z.string().optional(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    resourceVersion: z.string().optional(),
  }),
});

/**
 * An item of a list, or the object of a watch event. Items of built-in kinds do not say their kind.
 *
 * @param source name of the source, for origins
 * @returns undefined for what is no object with a name
 */
export function readItem(value: unknown, resource: ApiResource, source: string): KubernetesObject | undefined {
  const read = item.safeParse(value);
  if (!read.success) return undefined;
  const { apiVersion = resource.apiVersion, kind = resource.kind, metadata, ...fields } = read.data;
  // Who wrote which field is of no use here, and half of what a server sends.
  const { namespace, resourceVersion, managedFields: _unused, ...others } = metadata;
  return {
    ...fields,
    apiVersion,
    kind,
    metadata: {
      ...others,
      ...(namespace === undefined ? {} : { namespace }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    origin: {
      key: { group: groupVersion(apiVersion).group, kind, name: metadata.name, namespace: namespace ?? "" },
      file: source,
      line: 0,
    },
  };
}
