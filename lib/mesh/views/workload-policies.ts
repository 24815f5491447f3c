import type { Memo } from "../memo/memo.ts";
import { oneList } from "../memo/same.ts";
import { step } from "../memo/step.ts";
import { objectNames } from "./object-names.ts";
import type { WorkloadPolicies } from "./views.ts";

const workloadPolicies = step(
  "workload policies",
  {
    authorization: "identity",
    requestAuthentication: "identity",
    telemetry: "identity",
    wasmPlugins: "identity",
    trafficExtensions: "identity",
  },
  (policies: WorkloadPolicies): WorkloadPolicies => policies,
);

/** The same object for the same policies. */
export function onePolicies(policies: WorkloadPolicies, memo: Memo): WorkloadPolicies {
  return workloadPolicies(memo, {
    authorization: oneList(memo, policies.authorization),
    requestAuthentication: oneList(memo, policies.requestAuthentication),
    telemetry: oneList(memo, policies.telemetry),
    wasmPlugins: oneList(memo, policies.wasmPlugins),
    trafficExtensions: oneList(memo, policies.trafficExtensions),
  });
}

/** What is left of policies on the way out: those about callers count in front of hosts that are resolved at run time, and nowhere else. */
export function callingPolicies(policies: WorkloadPolicies, callsDynamicHosts: boolean, memo: Memo): WorkloadPolicies {
  const authorization = callsDynamicHosts ? policies.authorization : [];
  if (policies.authorization.length === authorization.length && policies.requestAuthentication.length === 0)
    return policies;
  return onePolicies({ ...policies, authorization, requestAuthentication: [] }, memo);
}

export const policyNames = (policies: WorkloadPolicies) => [
  objectNames(policies.authorization),
  objectNames(policies.requestAuthentication),
  objectNames(policies.telemetry),
  objectNames(policies.wasmPlugins),
  objectNames(policies.trafficExtensions),
];
