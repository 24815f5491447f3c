import { kindText, PortolanError } from "../base/diagnostic.ts";
import { fieldsOf, textOf } from "../base/untyped.ts";
import { byAge, type Config } from "../config/config.ts";
import { defaultMeshConfig } from "../config/kinds/mesh-config.ts";
import type { ProxyConfigResource } from "../config/kinds/proxy-config.ts";
import { unheededAnnotations } from "../injection/annotations.ts";
import { injectPod } from "../injection/inject-pod.ts";
import { podPatch } from "../injection/json-patch.ts";
import { nodesRunNativeSidecars } from "../injection/native-sidecars.ts";
import { annotationsOf, labelsOf, podOf } from "../injection/pod.ts";
import { whyNotInjected } from "../injection/selection.ts";
import type { InjectionValues } from "../injection/values.ts";
import { ownerOfPod } from "../injection/workloads.ts";
import { layersFor, proxyConfigObjects } from "../mesh/proxy/proxy-settings.ts";
import type { AdmissionAnswer, AdmissionRequest } from "./review.ts";
import type { AdmissionWorld } from "./world.ts";

const nothingKnown = { meshConfig: defaultMeshConfig, configs: [], objects: [] };

/** Pods that are made get a proxy; everything else stays as it is. */
export function injectOnCreate(
  request: AdmissionRequest,
  values: InjectionValues,
  world: AdmissionWorld | undefined,
): AdmissionAnswer {
  const { object, operation, subResource } = request;
  const nothing: AdmissionAnswer = { allowed: true, warnings: [] };
  if (object === undefined || operation !== "CREATE" || subResource !== "" || object.kind !== "Pod") return nothing;
  const pod = podOf(object);
  const namespace = textOf(fieldsOf(object.metadata).namespace) || request.namespace;
  if (whyNotInjected(pod, namespace, values) !== undefined) return nothing;
  const { meshConfig, configs, objects: known } = world?.loaded ?? nothingKnown;
  // Configs were read by the schema of their kind, so the kind says the type of the spec.
  const settings = configs.filter(
    ({ meta }) => kindText(meta) === "ProxyConfig",
  ) as readonly Config<ProxyConfigResource>[];
  const objects = proxyConfigObjects(settings.toSorted(byAge)).value;
  const layers = layersFor(objects, meshConfig.rootNamespace, namespace, labelsOf(pod));
  try {
    const isNativeByNodes = nodesRunNativeSidecars(known);
    const owner = ownerOfPod(object);
    const injected = injectPod(pod, { values, meshConfig, layers, owner, namespace, isNativeByNodes });
    const warnings = unheededAnnotations(annotationsOf(pod)).map(({ message }) => message);
    return { ...nothing, warnings, patch: podPatch(pod, injected) };
  } catch (cause) {
    if (!(cause instanceof PortolanError)) throw cause;
    return { allowed: false, message: `no proxy can be injected: ${cause.message}`, warnings: [] };
  }
}
