import type { RuntimeFractionalPercentJson } from "../../../gen/envoy/config/core/v3/base_pb.ts";
import type { FractionalPercentJson } from "../../../gen/envoy/type/v3/percent_pb.ts";

const denominators: Readonly<Record<string, number>> = { HUNDRED: 100, TEN_THOUSAND: 10_000, MILLION: 1_000_000 };

/** @returns from 0 to 1 */
export const partOf = ({ numerator = 0, denominator = "HUNDRED" }: FractionalPercentJson): number =>
  Math.min(1, numerator / (denominators[String(denominator)] ?? 100));

/** The part of requests that something is on for, where nobody sets another at run time. */
export const defaultPart = (fraction: RuntimeFractionalPercentJson | undefined, otherwise: number): number =>
  fraction?.defaultValue === undefined ? otherwise : partOf(fraction.defaultValue);
