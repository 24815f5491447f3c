import type { NodeClaims } from "../../base/classifier.ts";

/** `portolan doctor` polls as this node where none is named. No mesh has it, and servers do not report it as unmatched. */
export const probeNode = {
  id: "sidecar~0.0.0.0~portolan-doctor.invalid~invalid.svc.cluster.local",
  cluster: "",
  metadata: {},
};

export const isProbe = ({ id }: Pick<NodeClaims, "id">): boolean => id === probeNode.id;
