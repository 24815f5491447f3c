import { z } from "zod";
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
 * @returns undefined for what is no object with a name
 */
export function readItem(value: unknown, { apiVersion, kind, metadataOnly = false }: ApiResource): ApiItem | undefined {
  const read = item.safeParse(value);
  if (!read.success) return undefined;
  const { data } = read;
  const own = metadataOnly
    ? {}
    : { ...(data.apiVersion && { apiVersion: data.apiVersion }), ...(data.kind && { kind: data.kind }) };
  return { ...data, apiVersion, kind, ...own };
}
