import { setTimeout as sleep } from "node:timers/promises";
import type { Complaint } from "./delta-fetch.ts";
import type { HeldType } from "./resources.ts";

/** What the node's Envoy has reported about one type; another object for every other report. */
export interface EnvoyReport {
  /** The version that it has accepted last. */
  readonly accepted?: string | undefined;
  readonly complaint?: Complaint | undefined;
}

/** Whether Envoy has accepted or refused a version. An Envoy that reports nothing is not waited for. */
const isAnswered = ({ accepted, complaint }: EnvoyReport, version: string | undefined): boolean =>
  accepted === undefined || accepted === version || complaint?.version === version;

/** How long the next request waits for Envoy to accept or refuse the last answer, so that one request reports both. */
const answerMs = 1_000;

const noReport: EnvoyReport = {};

export interface EnvoyReports {
  of(type: HeldType): EnvoyReport;
  /** @returns whether the report is a different one now */
  accept(type: HeldType, version: string): boolean;
  /** @returns whether the report is a different one now */
  refuse(type: HeldType, complaint: Complaint | undefined): boolean;
  /** Waits, at most a second, until Envoy has accepted or refused the version that there is of a type. */
  untilAnswered(type: HeldType, signal: AbortSignal): Promise<void>;
}

/** @param versionOf the version that there is of a type */
export function createEnvoyReports(versionOf: (type: HeldType) => string | undefined): EnvoyReports {
  const reports = new Map<HeldType, EnvoyReport>();
  const waiting = new Map<HeldType, AbortController>();
  const of = (type: HeldType) => reports.get(type) ?? noReport;

  function report(type: HeldType, next: EnvoyReport): true {
    reports.set(type, next);
    if (isAnswered(next, versionOf(type))) waiting.get(type)?.abort();
    return true;
  }

  return {
    of,
    accept: (type, accepted) => of(type).accepted !== accepted && report(type, { ...of(type), accepted }),
    refuse: (type, complaint) =>
      JSON.stringify(of(type).complaint) !== JSON.stringify(complaint) && report(type, { ...of(type), complaint }),
    async untilAnswered(type, signal) {
      if (isAnswered(of(type), versionOf(type))) return;
      const answered = new AbortController();
      waiting.set(type, answered);
      await sleep(answerMs, undefined, { signal: AbortSignal.any([signal, answered.signal]) }).catch(() => {});
      waiting.delete(type);
    },
  };
}
