import { secretTypeUrl } from "../secrets/tls-secret.ts";
import { type ResourceType, typeOfUrl, typeUrlOf } from "../snapshot/resource-type.ts";

/** What nodes may ask for: the types of snapshots, and secrets, which lie apart. */
export type ServedType = ResourceType | "secrets";

export const servedTypeOf = (url: string): ServedType | undefined =>
  url === secretTypeUrl ? "secrets" : typeOfUrl(url);

export const urlOfServed = (type: ServedType): string => (type === "secrets" ? secretTypeUrl : typeUrlOf(type));
