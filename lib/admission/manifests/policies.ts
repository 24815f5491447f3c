import type { Fields } from "../../base/untyped.ts";
import { schemaOf } from "../../config/kind-registry.ts";
import { acceptAnnotation } from "../posture-change.ts";
import { type CelKind, celKinds } from "./cel-rules.ts";

export interface PolicyOptions {
  readonly failurePolicy: "Fail" | "Ignore";
  /** `Deny`: what breaks a rule is refused; `Warn`: the user is warned. */
  readonly action: "Deny" | "Warn";
  /** Whether policies are refused that close all that they select. */
  readonly guardsWorkloads: boolean;
  readonly exceptNamespaces: readonly string[];
}

/** Objects for an API server that judges by itself: a policy for each kind, and its binding. */
export function admissionPolicies(options: PolicyOptions): readonly Fields[] {
  return celKinds.flatMap((of) => {
    const name = `${of.kind.toLowerCase()}.portolan.dev`;
    return [policyOf(name, of, options), bindingOf(name, options)];
  });
}

function policyOf(
  name: string,
  { group, kind, rules }: CelKind,
  { failurePolicy, guardsWorkloads }: PolicyOptions,
): Fields {
  const closes = guardsWorkloads && kind === "AuthorizationPolicy" ? [closing] : [];
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name, labels },
    spec: {
      failurePolicy,
      matchConstraints: {
        matchPolicy: "Equivalent",
        resourceRules: [
          {
            apiGroups: [group],
            apiVersions: ["*"],
            operations: ["CREATE", "UPDATE"],
            resources: [schemaOf(group, kind)?.plural ?? ""],
          },
        ],
      },
      validations: [
        // The rules are about a spec that is there.
        ...rules.map(({ expression, message }) => ({
          expression: `!has(object.spec) || (${expression})`,
          message: `configuration is invalid: ${message}`,
          reason: "Invalid",
        })),
        ...closes,
      ],
    },
  };
}

function bindingOf(name: string, { action, exceptNamespaces }: PolicyOptions): Fields {
  const selector = {
    namespaceSelector: {
      matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "NotIn", values: exceptNamespaces }],
    },
  };
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name, labels },
    spec: {
      policyName: name,
      validationActions: [action],
      ...(exceptNamespaces.length === 0 ? {} : { matchResources: selector }),
    },
  };
}

const labels = { "app.kubernetes.io/name": "portolan" };

/** What an object alone shows: that an ALLOW policy without rules, or a DENY policy for everything, denies all requests. */
const closing = {
  expression: [
    `(has(object.metadata.annotations) && "${acceptAnnotation}" in object.metadata.annotations && object.metadata.annotations["${acceptAnnotation}"].split(",").exists(w, w.trim() == "closes"))`,
    '(has(object.metadata.annotations) && "istio.io/dry-run" in object.metadata.annotations)',
    'has(object.spec) && ((has(object.spec.action) && object.spec.action != "ALLOW") || (has(object.spec.rules) && size(object.spec.rules) > 0)) && !(has(object.spec.action) && object.spec.action == "DENY" && has(object.spec.rules) && object.spec.rules.exists(r, !has(r.from) && !has(r.to) && !has(r.when)))',
  ].join(" || "),
  message: `the policy denies all requests to what it selects; to accept that, set the annotation ${acceptAnnotation}: closes`,
  reason: "Invalid",
};
