import type { Config } from "../../config/config.ts";
import type { GatewayClass } from "../../config/gateway-api/gateway.ts";
import type { GatewayApiSettings } from "../../config/gateway-api/gateway-api-settings.ts";
import { remoteClassName, remoteController } from "./controllers.ts";

/** Who cares for a Gateway: we, or somebody in another cluster whom we know; `undefined`: nobody whom we know. */
export type ClassOwner = "ours" | "remote" | undefined;

/** Whose a GatewayClass is. */
export function ownerOf(spec: GatewayClass, { controllerName }: GatewayApiSettings): ClassOwner {
  if (spec.controllerName === controllerName) return "ours";
  return spec.controllerName === remoteController ? "remote" : undefined;
}

/** Whose the Gateways of a class are. Some classes are there without an object, or beside one that is somebody else's. */
export function classOwners(
  classes: readonly Config<GatewayClass>[],
  settings: GatewayApiSettings,
): (className: string) => ClassOwner {
  const byName = new Map<string, ClassOwner>([
    ...settings.classNames.map((name): [string, ClassOwner] => [name, "ours"]),
    [remoteClassName, "remote"],
  ]);
  for (const { meta, spec } of classes) {
    const owner = ownerOf(spec, settings);
    if (owner !== undefined) byName.set(meta.name, owner);
  }
  return (className) => byName.get(className);
}
