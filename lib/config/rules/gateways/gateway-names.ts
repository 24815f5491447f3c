import { error, type Finding, type Path, warning } from "../../finding.ts";
import { isDns1123Label, isFqdn } from "../names.ts";

/**
 * Names of gateways. Checking ends at the first legacy name, as Istio's does.
 */
export function* gatewayNameRules(names: readonly string[], path: Path): Generator<Finding> {
  for (const [index, name] of names.entries()) {
    const at = [...path, index];
    if (name.includes("/")) {
      const [namespace = "", gateway = "", ...rest] = name.split("/");
      const wellFormed = rest.length === 0 && namespace !== "" && gateway !== "";
      if (!wellFormed) yield error(at, `${JSON.stringify(name)} is not of the form namespace/name`);
      else if ((namespace !== "." && !isDns1123Label(namespace)) || !isDns1123Label(gateway)) {
        yield error(at, `${JSON.stringify(name)} has a part that is not a DNS label`);
      }
      continue;
    }
    if (!isFqdn(name)) yield error(at, `${JSON.stringify(name)} is neither mesh, a name nor namespace/name`);
    else if (name.includes(".")) {
      const [gateway = "", namespace = ""] = name.split(".");
      yield warning(at, `${name} is the legacy form of a gateway's name`, `write ${namespace}/${gateway}`);
    }
    return;
  }
}
