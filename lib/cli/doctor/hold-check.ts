import type { Deployment } from "./deployment.ts";
import { type Finding, failed, passed, skipped } from "./finding.ts";
import { noNode } from "./poll-checks.ts";
import { polledIn, sendPoll } from "./polls.ts";

const check = "hold";

/** What a front leaves of a node's patience for its answer to travel. */
const marginMs = 5_000;
/** What is left of `--timeout` when an answer is due. */
const spareMs = 1_000;

/** How long a poll of a node that has everything is held: until something changes, or for a time that the front sets. */
export async function holdCheck(deployment: Deployment): Promise<readonly Finding[]> {
  const { node, token, timeoutMs } = deployment;
  if (node === undefined) return [skipped(check, noNode)];
  const patienceMs = timeoutMs - spareMs;
  const wantedMs = patienceMs - marginMs;
  if (wantedMs < spareMs)
    return [skipped(check, `a --timeout of ${(marginMs + 2 * spareMs) / 1_000} s or more leaves time to hold a poll`)];
  const poll = { type: "clusters", node } as const;
  const first = await sendPoll(deployment, poll, token);
  const polled = first.kind === "answered" ? polledIn("clusters", first.bytes) : undefined;
  if (polled === undefined) return [skipped(check, "the poll for clusters was not answered")];
  const answer = await sendPoll(deployment, { ...poll, version: polled.version, patienceMs }, token);
  const seconds = (answer.elapsedMs / 1_000).toFixed(1);
  const cut = "raise the response timeout of the proxy before the front, or lower the time that the front holds polls";
  if (answer.kind === "failed") return [failed(check, `a held poll ended after ${seconds} s: ${answer.reason}`, cut)];
  if (answer.status === 200) return [passed(check, `a change came after ${seconds} s`)];
  if (answer.status !== 304) return [failed(check, `a held poll got ${answer.status} after ${seconds} s`, cut)];
  const asked = `${wantedMs / 1_000} s that --timeout leaves room for`;
  if (answer.elapsedMs < wantedMs / 2)
    return [passed(check, `polls are answered after ${seconds} s, of ${asked}: changes come with the poll delay`)];
  return [passed(check, `polls are held: for ${seconds} s, of ${asked}`)];
}
