import { isDeepStrictEqual } from "node:util";
import { identityText } from "../base/diagnostic.ts";
import type { Fields } from "../base/untyped.ts";
import { defaultMeshConfig } from "../config/kinds/mesh-config.ts";
import { refusedEffects } from "./posture-change.ts";
import { findingText, readObject } from "./read-object.ts";
import type { AdmissionAnswer, AdmissionRequest } from "./review.ts";
import { type AdmissionWorld, analysisAfter, maxAnalyzed, type WorldChange, workloadsOf } from "./world.ts";

export interface ValidateOptions {
  /** The mesh that the object is to be part of; undefined: an object is looked at by itself. */
  readonly world?: AdmissionWorld | undefined;
  /** Whether changes are refused that close or open workloads. */
  readonly guardsWorkloads: boolean;
}

const nothing: AdmissionAnswer = { allowed: true, warnings: [] };

/**
 * Decides about one change of an object, as Istio's webhook does: CREATE and UPDATE are validated, everything else is allowed. What the
 * analysers say of the mesh after the change is a warning.
 *
 * @see istio 1.30.3 pkg/webhooks/validation/server/server.go, validate
 */
export function validateChange(request: AdmissionRequest, options: ValidateOptions): AdmissionAnswer {
  // The object goes, and whatever it is must not stop that. Until then it is in force, so its spec may not change unseen.
  const { object, oldObject } = request;
  const isGoing = object !== undefined && isTerminating(object) && isDeepStrictEqual(object.spec, oldObject?.spec);
  if (request.operation === "CONNECT" || request.subResource !== "" || isGoing) return nothing;
  const before = request.oldObject === undefined ? undefined : readObject(request.oldObject, request);
  const after =
    request.object === undefined || request.operation === "DELETE" ? undefined : readObject(request.object, request);
  if (after?.kind === "refused") return { allowed: false, message: after.message, warnings: after.warnings };
  const change: WorldChange = {
    before: before?.kind === "read" ? before.config : undefined,
    after: after?.config,
  };
  const effects = options.guardsWorkloads && !isOfNamespace(request) ? effectsOf(change, options.world) : [];
  const warnings = [
    ...(after?.warnings ?? []),
    ...(options.world === undefined ? [] : analysed(options.world, change)),
  ];
  if (effects.length === 0) return { allowed: true, warnings };
  return { allowed: false, message: effects.join("\n"), warnings };
}

const isTerminating = ({ metadata }: Fields): boolean =>
  typeof metadata === "object" && metadata !== null && typeof Reflect.get(metadata, "deletionTimestamp") === "string";

/** Whether the objects of a namespace go because the namespace does. */
const isOfNamespace = ({ operation, username }: AdmissionRequest): boolean =>
  operation === "DELETE" && username === "system:serviceaccount:kube-system:namespace-controller";

function effectsOf(change: WorldChange, world: AdmissionWorld | undefined): readonly string[] {
  const { rootNamespace } = world?.loaded.meshConfig ?? defaultMeshConfig;
  const configs = world?.loaded.configs ?? [];
  const workloads = world === undefined ? [] : workloadsOf(world);
  return refusedEffects({ ...change, configs, rootNamespace, workloads });
}

function analysed(world: AdmissionWorld, change: WorldChange): readonly string[] {
  const subject = change.after ?? change.before;
  if (subject === undefined) return [];
  const messages = analysisAfter(world, change);
  if (messages === undefined) {
    return [`the mesh has more than ${maxAnalyzed} objects and was not analysed: run \`portolan analyze\``];
  }
  const own = identityText(subject.origin.key);
  return messages.map((message) => {
    const key = identityText(message.origin.key);
    return `${key === own ? "" : `${key}: `}${findingText(message)} [${message.code}]`;
  });
}
