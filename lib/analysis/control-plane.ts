import type { Labels } from "../config/values/labels.ts";

/**
 * Whether an object belongs to Istio itself: its control plane and its gateways, which nobody wrote by hand.
 * @see istio 1.30.3 pkg/config/analysis/analyzers/util/config.go, IsIstioControlPlane
 */
export const isControlPlane = ({ labels }: { readonly labels: Labels }): boolean =>
  labels.istio !== undefined || labels.release === "istio";
