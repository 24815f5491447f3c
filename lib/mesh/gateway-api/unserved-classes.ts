import { byCodePoint, type Diagnostic } from "../../base/diagnostic.ts";
import { nearestName } from "../../base/nearest-name.ts";
import type { Config } from "../../config/config.ts";
import { at, warning } from "../../config/finding.ts";
import type { GatewayClass, KubernetesGateway } from "../../config/gateway-api/gateway.ts";
import type { GatewayApiSettings } from "../../config/gateway-api/gateway-api-settings.ts";
import { query } from "../../incremental/query.ts";
import { classOwners } from "./classes.ts";

interface ClassInputs {
  readonly gateways: readonly Config<KubernetesGateway>[];
  readonly classes: readonly Config<GatewayClass>[];
  readonly settings: GatewayApiSettings;
}

/** One warning for each Gateway whose class is neither served here nor, as its GatewayClass says, by somebody else. */
export const unservedClasses = query(
  "gateways of classes that are not served",
  { settings: "value" },
  ({ gateways, classes, settings }: ClassInputs): readonly Diagnostic[] => {
    const ownerOf = classOwners(classes, settings);
    const names = new Set(classes.map(({ meta }) => meta.name));
    const served = [...new Set([...settings.classNames, ...names])]
      .filter((name) => ownerOf(name) === "ours")
      .sort(byCodePoint);
    return gateways
      .filter(({ spec: { gatewayClassName: name } }) => ownerOf(name) === undefined && !names.has(name))
      .map(({ spec: { gatewayClassName: name }, origin }) => {
        const meant = nearestName(name, served);
        const message = `is ${name}, a class that is not served here (${served.join(", ") || "there is none"}): no proxy gets this Gateway`;
        const hint =
          meant === undefined ? "name a class that is served, or add the GatewayClass" : `did you mean ${meant}?`;
        return at(origin, warning(["spec", "gatewayClassName"], message, hint, "gateway-class-not-served"));
      });
  },
);
