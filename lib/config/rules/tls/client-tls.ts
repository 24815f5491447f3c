import { error, type Finding, type Path } from "../../finding.ts";
import type { ClientTLSSettings } from "../../kinds/destination-rule.ts";

const configMapScheme = "configmap://";

/** Name of the authorities that a proxy's system trusts, as Istio's agent calls them. */
export const systemRoots = "file-root:system";

/** @see docs/how-istio-does-it/validation.md#tls-settings-of-clients */
export function* clientTlsRules(tls: ClientTLSSettings | undefined, path: Path, namespace: string): Generator<Finding> {
  if (tls === undefined) return;
  const { mode = "DISABLE", credentialName, caCertCredentialName, insecureSkipVerify } = tls;
  for (const name of ["credentialName", "caCertCredentialName"] as const) {
    yield* configMapRules(tls[name], [...path, name], namespace);
  }
  if (insecureSkipVerify === true) {
    const forbidden =
      mode === "SIMPLE"
        ? (["caCertificates", "caCertCredentialName", "credentialName", "subjectAltNames"] as const)
        : mode === "MUTUAL"
          ? (["caCertificates", "caCertCredentialName", "subjectAltNames"] as const)
          : [];
    for (const name of forbidden) {
      if (tls[name] !== undefined) {
        yield error([...path, name], "has no meaning with insecureSkipVerify", "", "conflicting-fields");
      }
    }
  }
  if (mode === "ISTIO_MUTUAL" && caCertCredentialName !== undefined) {
    yield error([...path, "caCertCredentialName"], "has no meaning with ISTIO_MUTUAL", "", "conflicting-fields");
  }
  if (mode !== "SIMPLE" && mode !== "MUTUAL") return;
  if (caCertCredentialName !== undefined && tls.caCertificates) {
    const message = "caCertCredentialName excludes caCertificates";
    yield error(path, message, "keep one kind of source", "conflicting-fields");
  }
  if (credentialName !== undefined) {
    const files = (["clientCertificate", "caCertificates", "privateKey", "caCrl"] as const).filter((name) => tls[name]);
    if (files.length > 0) {
      yield error(path, `credentialName excludes ${files.join(", ")}`, "keep one kind of source", "conflicting-fields");
    }
    return;
  }
  if (mode === "SIMPLE") return;
  for (const name of ["clientCertificate", "privateKey"] as const) {
    if (tls[name] === undefined) yield error([...path, name], "is required for MUTUAL", "", "missing-field");
  }
}

/** A name of a ConfigMap with its scheme; any other name passes. */
function* configMapRules(written: string | undefined, path: Path, namespace: string): Generator<Finding> {
  if (!written?.startsWith(configMapScheme)) return;
  const [first = "", second, ...rest] = written.slice(configMapScheme.length).split("/");
  const name = second ?? first;
  if (name === "" || rest.length > 0) yield error(path, `${JSON.stringify(written)} names no ConfigMap`);
  else if (second !== undefined && first !== namespace) {
    yield error(path, `the ConfigMap is in namespace ${first}, the rule in ${namespace}`);
  }
}
