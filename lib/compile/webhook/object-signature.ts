import type { StoreRequest } from "../../storage/http.ts";
import { signRequest } from "./signature.ts";

/** Where the objects lie below a compile function's address. */
export const objectsPath = "/objects";

/** The `authorize` of an `httpStore` at `<compile function>/objects`; every request is a delivery of its own. */
export function objectSigner(secret: string, now: () => number = Date.now) {
  return (request: StoreRequest): Promise<Readonly<Record<string, string>>> =>
    signRequest(secret, { ...request, target: objectsPath + request.target }, crypto.randomUUID(), now());
}
