import { internList } from "../../../incremental/keep-identity.ts";
import type { Memo } from "../../../incremental/memo.ts";
import { query } from "../../../incremental/query.ts";
import { objectNames } from "../object-names.ts";
import type { WorkloadPolicies } from "../views.ts";

const workloadPolicies = query("workload policies", (policies: WorkloadPolicies): WorkloadPolicies => policies);

/** The same object for the same policies. */
export function onePolicies(policies: WorkloadPolicies, memo: Memo): WorkloadPolicies {
  return workloadPolicies(memo, {
    authorization: internList(memo, policies.authorization),
    requestAuthentication: internList(memo, policies.requestAuthentication),
    telemetry: internList(memo, policies.telemetry),
    wasmPlugins: internList(memo, policies.wasmPlugins),
    trafficExtensions: internList(memo, policies.trafficExtensions),
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
