import { error, type Finding, type Path } from "../../finding.ts";
import type { ClientTLSSettings } from "../../kinds/destination-rule.ts";

const configMapScheme = "configmap://";

/** @see docs/how-istio-does-it/validation.md#tls-settings-of-clients */
export function* clientTlsRules(tls: ClientTLSSettings | undefined, path: Path, namespace: string): Generator<Finding> {
  if (tls === undefined) return;
  const { mode = "DISABLE", credentialName, insecureSkipVerify } = tls;
  if (credentialName?.startsWith(configMapScheme)) {
    const [first = "", second, ...rest] = credentialName.slice(configMapScheme.length).split("/");
    const name = second ?? first;
    if (name === "" || rest.length > 0)
      yield error([...path, "credentialName"], `${JSON.stringify(credentialName)} names no ConfigMap`);
    else if (second !== undefined && first !== namespace) {
      yield error([...path, "credentialName"], `the ConfigMap is in namespace ${first}, the rule in ${namespace}`);
    }
  }
  if (insecureSkipVerify === true) {
    const forbidden =
      mode === "SIMPLE"
        ? (["caCertificates", "credentialName", "subjectAltNames"] as const)
        : mode === "MUTUAL"
          ? (["caCertificates", "subjectAltNames"] as const)
          : [];
    for (const name of forbidden) {
      if (tls[name] !== undefined) {
        yield error([...path, name], "has no meaning with insecureSkipVerify", "", "conflicting-fields");
      }
    }
  }
  if (mode !== "SIMPLE" && mode !== "MUTUAL") return;
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
