import { createHash } from "node:crypto";
import type { StoreRequest } from "../../storage/http.ts";
import { signHeaders } from "./signature.ts";

type Signable = Omit<StoreRequest, "method"> & { readonly method: string };

/**
 * What the signature of a request for an object covers, in the place of a body: everything that decides what is done, line by
 * line. The first line keeps it apart from the body of a webhook, the delivery's name makes a replay under another one fail.
 */
export function objectRequestText({ method, target, condition, body }: Signable, delivery: string): string {
  const { "if-match": ifMatch = "", "if-none-match": ifNoneMatch = "" } = condition;
  const hash = createHash("sha256").update(body).digest("hex");
  return ["objects", method, target, ifMatch, ifNoneMatch, delivery, hash].join("\n");
}

/** The `authorize` of `httpStore`; every request is a delivery of its own. */
export function objectSigner(secret: string, now: () => number = Date.now) {
  return (request: StoreRequest): Promise<Readonly<Record<string, string>>> => {
    const delivery = crypto.randomUUID();
    return signHeaders(secret, objectRequestText(request, delivery), delivery, now());
  };
}
