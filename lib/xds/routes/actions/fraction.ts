import type { FractionalPercentJson } from "../../../../gen/envoy/type/v3/percent_pb.ts";
import type { Percent } from "../../../config/kinds/virtual-service.ts";

/** A percentage in ten-thousandths of a percent, what is finer cut off. */
export function fractionOf(percent: Percent): FractionalPercentJson {
  const numerator = Math.trunc((percent.value ?? 0) * 10_000);
  return { ...(numerator === 0 ? {} : { numerator }), denominator: "MILLION" };
}

/** A whole percentage; HUNDRED is the default denominator and not written. */
export function wholeFraction(percent: number): FractionalPercentJson {
  return percent === 0 ? {} : { numerator: percent };
}
