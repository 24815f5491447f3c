import { hostname } from "node:os";
import { proseLine } from "../terminal.ts";

/** This process among those of all machines, for people. */
export const processName = (): string => `process ${process.pid} on ${hostname()}`;

/** What two collectors on one source mean, and what to do. @param other names the other process */
export const sharedText = (other: string): string =>
  `${proseLine(other)} fills this source, too; stop one of the two, or give it a source of its own with --source`;
