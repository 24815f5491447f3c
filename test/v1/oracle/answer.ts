import { encodeDocument } from "../../../lib/legacy/go-json.ts";
import type { NodeId } from "../../../lib/legacy/node-id.ts";
import {
  failure,
  type ParsedV1Request,
  parseV1Request,
  type V1Answer,
  type V1Document,
  type V1Request,
} from "../../../lib/legacy/v1-request.ts";
import { clustersDocument } from "../../../lib/v1/clusters/cds.ts";
import { instancesAt } from "../../../lib/v1/instances.ts";
import type { LegacyInstance, LegacyWorld } from "../../../lib/v1/legacy-world.ts";
import { listenersDocument } from "../../../lib/v1/listeners/lds.ts";
import { routesDocument } from "../../../lib/v1/routes/rds.ts";
import { availabilityZone, hostsDocument, registrations } from "../../../lib/v1/sds.ts";

/** Calls of the registry that fail, and the reason; for tests of what is answered then. */
export interface RegistryFaults {
  readonly services?: string;
  readonly instances?: string;
  readonly proxyInstances?: string;
}

/**
 * Answers a question of a v1 Envoy from a world: bodies, status codes and texts of errors as release 0.8 has them.
 * It depends on nothing but the world; caches and statistics are around it.
 *
 * @see docs/how-istio-does-it/legacy-v1.md#questions-and-answers
 */
export function answer(world: LegacyWorld, request: V1Request, faults: RegistryFaults = {}): V1Answer {
  const read = parseV1Request(request);
  return read.answer ?? answerQuestion(world, read.question, faults);
}

function answerQuestion(world: LegacyWorld, question: ParsedV1Request, faults: RegistryFaults): V1Answer {
  const fault = faultOf(question, faults);
  if (fault !== undefined) return fault;
  switch (question.kind) {
    case "registrations":
      return { status: 200, body: encodeDocument(registrations(world)), contentType: "application/json" };
    case "hosts": {
      const document = hostsDocument(world, question.key);
      return found("sds", document, document.hosts.length);
    }
    case "clusters": {
      const document = clustersDocument(world, question.node, runningAt(world, question.node));
      return found("cds", document, document.clusters.length);
    }
    case "listeners": {
      const document = listenersDocument(world, question.node, runningAt(world, question.node));
      return found("lds", document, document.listeners?.length ?? 0);
    }
    case "routes": {
      const document = routesDocument(world, question.node, question.table);
      if ("error" in document) return failure(503, "routes", document.error);
      return found("rds", document, document.virtual_hosts.length);
    }
    case "zone": {
      const name = availabilityZone(world, question.node);
      return name === undefined ? unknownNode : { status: 200, body: name };
    }
    // Statistics are about what is around the answers.
    case "statistics":
    case "reset-statistics":
      return { status: 404, body: "404: Page Not Found" };
  }
}

/** An ingress proxy is none of the workloads. */
const runningAt = (world: LegacyWorld, { type, ip }: NodeId): readonly LegacyInstance[] =>
  type === "ingress" ? [] : instancesAt(world, ip);

const unknownNode = failure(404, "zone", "couldn't find the given cluster node");

function found(kind: V1Document["kind"], document: object, resources: number): V1Answer {
  return { status: 200, body: encodeDocument(document), document: { kind, resources } };
}

/** What the registry's failures are answered with. */
function faultOf(question: ParsedV1Request, faults: RegistryFaults): V1Answer | undefined {
  switch (question.kind) {
    case "registrations":
      if (faults.services !== undefined) return failure(503, "registrations", faults.services);
      return faults.instances === undefined ? undefined : failure(500, "registrations", faults.instances);
    case "hosts":
      return faults.instances === undefined ? undefined : failure(503, "hosts", faults.instances);
    case "clusters":
    case "listeners":
    case "routes": {
      const reason = nodeFault(question.kind, question.node, faults);
      return reason === undefined ? undefined : failure(503, question.kind, reason);
    }
    case "zone":
      return faults.proxyInstances === undefined ? undefined : failure(404, "zone", faults.proxyInstances);
    default:
      return undefined;
  }
}

/** The registry is asked for the node's own instances first, then for all services; for some nodes, for neither. */
function nodeFault(
  kind: "clusters" | "listeners" | "routes",
  node: NodeId,
  faults: RegistryFaults,
): string | undefined {
  const asks = node.type === "sidecar" || (node.type === "router" && kind === "clusters");
  return asks ? (faults.proxyInstances ?? faults.services) : undefined;
}
