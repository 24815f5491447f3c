import { z } from "zod";
import { PortolanError } from "../../../base/diagnostic.ts";
import type { ApiResource } from "./resource.ts";

const item = z.looseObject({
  apiVersion: z.string().optional(),
  kind: z.string().optional(),
  metadata: z.looseObject({
    name: z.string().min(1),
    namespace: z.string().optional(),
    resourceVersion: z.string().optional(),
  }),
});

/** An object as an API server sends it, with its kind. Only the envelope was looked at. */
export interface ApiItem {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly resourceVersion?: string | undefined;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/**
 * An item of a list, or the object of a watch event. Items of built-in kinds do not say their kind, and metadata that were asked
 * for alone say another.
 *
 * @throws PortolanError for what is no object with a name: without it nobody knows what there is
 */
export function readItem(value: unknown, { path, apiVersion, kind, metadataOnly = false }: ApiResource): ApiItem {
  const read = item.safeParse(value);
  if (!read.success) throw new PortolanError(`the API server answered ${path} with something that is no ${kind}`);
  const { data } = read;
  const own = metadataOnly
    ? {}
    : { ...(data.apiVersion && { apiVersion: data.apiVersion }), ...(data.kind && { kind: data.kind }) };
  return { ...data, apiVersion, kind, ...own };
}
