import { answerText } from "../../base/answer-text.ts";
import { PortolanError } from "../../base/diagnostic.ts";
import { discoveryUrl, maxDiscoveryBytes, readDiscovery } from "../../base/oidc-discovery.ts";
import { type FetchKeys, isSafeKeysUrl } from "./remote-keys.ts";

/**
 * Reads keys from where the issuer's own document says that they are, which is read again each time: an issuer may move them.
 *
 * @param issuer as tokens have it; the document has to name the same
 * @see https://openid.net/specs/openid-connect-discovery-1_0.html, section 4
 */
export function discoveredKeys(issuer: string, fetchKeys: FetchKeys): FetchKeys {
  const document = discoveryUrl(issuer);
  return async (_url, init) => {
    const answer = await fetchKeys(document, init);
    if (answer.status !== 200) {
      await answer.body?.cancel();
      throw new PortolanError(`${document} answers ${answer.status}`);
    }
    const uri = keysUrlIn((await answerText(answer, maxDiscoveryBytes)) ?? "", issuer, document);
    return fetchKeys(uri, init);
  };
}

/** @throws PortolanError for a document that is none, another issuer's, or leads to keys in clear text */
function keysUrlIn(text: string, issuer: string, document: string): string {
  const read = readDiscovery(text);
  if (read !== undefined && read.issuer !== issuer)
    throw new PortolanError(`${document} is not the document of ${issuer}`);
  if (read === undefined || !URL.canParse(read.jwksUri) || !isSafeKeysUrl(new URL(read.jwksUri)))
    throw new PortolanError(`${document} names no https URL as jwks_uri`);
  return read.jwksUri;
}
