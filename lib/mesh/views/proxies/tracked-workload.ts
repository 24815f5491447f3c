import type { Labels } from "../../../config/values/labels.ts";
import type { ServiceTarget } from "../../../registry/service.ts";
import type { PatchedProxy } from "../../index/envoy-filter-index.ts";
import type { ServedWorkload } from "../../index/policy-attachment.ts";
import type { Mesh } from "../../mesh.ts";
import { envoyTypeOf } from "./class-proxy.ts";
import { metadataOf, type ProxyAnswers } from "./proxy-answers.ts";

/** The workload as policies see it; what they do not read is not asked for. A class: as `ProxyAnswers`. */
export class TrackedWorkload implements ServedWorkload {
  readonly namespace: string;
  readonly labels: Labels;
  readonly rootNamespace: string;
  readonly sidecar: ServedWorkload["sidecar"];
  readonly calledNamespace?: string;
  readonly #node: ProxyAnswers;

  constructor(
    node: ProxyAnswers,
    {
      labels,
      rootNamespace,
      sidecar,
      calledNamespace,
    }: Omit<ServedWorkload, "namespace" | "type" | "serviceAccount" | "targets">,
  ) {
    this.namespace = node.namespace;
    this.labels = labels;
    this.rootNamespace = rootNamespace;
    this.sidecar = sidecar;
    if (calledNamespace !== undefined) this.calledNamespace = calledNamespace;
    this.#node = node;
  }

  get type(): PatchedProxy["type"] {
    return envoyTypeOf(this.#node);
  }

  get serviceAccount(): string {
    return this.#node.serviceAccount;
  }

  get targets(): readonly ServiceTarget[] {
    return this.#node.targets;
  }

  /** The same workload, about to call a service of that namespace. */
  calling(calledNamespace: string): TrackedWorkload {
    return new TrackedWorkload(this.#node, { ...this, calledNamespace });
  }
}

/** A proxy as patches match it. */
export class PatchedNode implements PatchedProxy {
  readonly namespace: string;
  readonly labels: Labels;
  readonly rootNamespace: string;
  readonly type: PatchedProxy["type"];
  readonly metadata: PatchedProxy["metadata"];

  constructor(mesh: Pick<Mesh, "config">, node: ProxyAnswers, labels: Labels) {
    this.namespace = node.namespace;
    this.labels = labels;
    this.rootNamespace = mesh.config.rootNamespace;
    this.type = envoyTypeOf(node);
    this.metadata = metadataOf(node);
  }

  get istioVersion(): string {
    const { ISTIO_VERSION } = this.metadata;
    return typeof ISTIO_VERSION === "string" ? ISTIO_VERSION : "";
  }
}
