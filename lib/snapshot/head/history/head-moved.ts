import { PortolanError } from "../../../base/diagnostic.ts";

/** HEAD is not the one that an operator has seen. By itself, so that a front at the edge carries none of what moves HEAD. */
export class HeadMoved extends PortolanError {}

/** @param seen generation of the HEAD that was seen; undefined: any does @throws HeadMoved */
export function refuseUnseen(generation: number, seen: number | undefined): void {
  if (seen === undefined || seen === generation) return;
  const what = generation > seen ? "HEAD has moved on to" : "HEAD is at";
  throw new HeadMoved(`${what} generation ${generation} since you looked; look again`);
}
