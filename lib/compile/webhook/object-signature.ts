import type { StoreRequest } from "../../storage/http.ts";
import { signRequest } from "./signature.ts";

/** Where the objects lie below a compile function's address. */
export const objectsPath = "/objects";

/**
 * The `authorize` of an `httpStore` at `<compile function>/objects`; every request is a delivery of its own.
 *
 * @param audience the host of the compile function, as `SignableRequest` has it
 */
export function objectSigner(secret: string, audience?: string, now: () => number = Date.now) {
  return (request: StoreRequest): Promise<Readonly<Record<string, string>>> => {
    const signable = { ...request, audience, target: objectsPath + request.target };
    return signRequest(secret, signable, crypto.randomUUID(), now());
  };
}
