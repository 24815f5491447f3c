import { nearestName } from "../../base/nearest-name.ts";
import { isFields } from "../../base/untyped.ts";

/** TLS settings other than those that ask for plain text, however they are misspelt: in capitals, or as a text in the object. */
const tls = /tls\\?": ?(?!\{"mode":"DISABLE"\})/i;

/** Fields that nothing but TLS settings have, in small letters. */
const tlsFields: ReadonlySet<string> = new Set(
  "clientcertificate privatekey cacertificates credentialname subjectaltnames insecureskipverify cacrl sni".split(" "),
);

const modes: ReadonlySet<unknown> = new Set(["SIMPLE", "MUTUAL", "ISTIO_MUTUAL"]);

/** Nesting below which nothing is looked for: settings of TLS stand far above. */
const maxDepth = 20;

/** Whether a DestinationRule states TLS, or something that looks like it under a name that is misspelt. */
export const statesTls = (spec: unknown): boolean => tls.test(JSON.stringify(spec) ?? "") || looksLikeTls(spec, 0);

function looksLikeTls(value: unknown, depth: number): boolean {
  if (depth > maxDepth) return false;
  if (Array.isArray(value)) return value.some((one) => looksLikeTls(one, depth + 1));
  if (!isFields(value)) return false;
  return Object.entries(value).some(([name, member]) => {
    const plain = name.replaceAll("_", "").toLowerCase();
    if (tlsFields.has(plain) || modes.has(member)) return true;
    return (
      (plain !== "tls" && isFields(member) && nearestName(plain, ["tls"]) !== undefined) ||
      looksLikeTls(member, depth + 1)
    );
  });
}
