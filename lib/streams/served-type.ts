import { secretTypeUrl } from "../secrets/tls-secret.ts";
import { isWildcard, type ResourceType, resourceTypes, typeOfUrl, typeUrlOf } from "../snapshot/resource-type.ts";

/** What nodes may ask for: the types of snapshots, and secrets, which lie apart. */
export type ServedType = ResourceType | "secrets";

export const servedTypeOf = (url: string): ServedType | undefined =>
  url === secretTypeUrl ? "secrets" : typeOfUrl(url);

/** Whether a type can be asked for as a whole. */
export const isWhole = (type: ServedType | undefined): boolean =>
  type !== undefined && type !== "secrets" && isWildcard(type);

export const urlOfServed = (type: ServedType): string => (type === "secrets" ? secretTypeUrl : typeUrlOf(type));

/** Whether a text names such a type. */
export const isServedType = (type: string): type is ServedType =>
  type === "secrets" || resourceTypes.some((known) => known === type);
