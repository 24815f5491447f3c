import { fieldsOf, isFields, jsonIn, textOf } from "../../../base/untyped.ts";
import { cutText } from "../../../snapshot/free-text.ts";
import type { Repository } from "./read-repositories.ts";
import { isSha } from "./repository-host.ts";

/** A push, as GitHub's and GitLab's webhooks send it. */
export interface PushEvent {
  /** The repository's path at its host. */
  readonly repository: string;
  /** `refs/heads/main`. */
  readonly ref: string;
  /** The branch's commit before the push, and after it; nothing but zeros where there is none. */
  readonly before: string;
  readonly after: string;
  /** Login of the account that pushed. */
  readonly pusher: string;
}

/** @param content of a delivery @returns undefined for any other event */
export function pushOfGithub(content: unknown): PushEvent | undefined {
  if (!isFields(content) || typeof content.ref !== "string" || typeof content.after !== "string") return undefined;
  const { ref, before, after, repository, pusher } = content;
  return {
    repository: textOf(fieldsOf(repository).full_name),
    ref,
    before: textOf(before),
    after,
    pusher: textOf(fieldsOf(pusher).name),
  };
}

/** @param body of a delivery @returns undefined for any other event; a pushed tag is one */
export function pushOfGitlab(body: Uint8Array): PushEvent | undefined {
  const content = jsonIn(new TextDecoder().decode(body));
  if (!isFields(content) || content.object_kind !== "push" || typeof content.ref !== "string") return undefined;
  const { ref, before, after, project, user_username: pusher } = content;
  return {
    repository: textOf(fieldsOf(project).path_with_namespace),
    ref,
    before: textOf(before),
    after: textOf(after),
    pusher: textOf(pusher),
  };
}

const maxPusherLength = 256;

/** Whether a push of a branch that is followed is kept: a body may have megabytes in any other field. */
export const isShort = ({ before, after, pusher }: PushEvent): boolean =>
  isSha(before) && isSha(after) && pusher.length <= maxPusherLength;

const branchPrefix = "refs/heads/";
const maxNamed = 200;

/** Why nothing follows from a delivery for a source; undefined for a push to the branch that the source follows. */
export function whyIgnored(
  event: PushEvent | undefined,
  host: Repository["host"],
  { host: followed, name, branch }: Repository,
): string | undefined {
  if (host !== followed) return `the source follows a repository at ${followed}, and this delivery is ${host}'s`;
  if (event === undefined) return "the event is no push to a branch";
  // Hosts take names in any case.
  if (event.repository.toLowerCase() !== name.toLowerCase())
    return `repository ${cutText(event.repository, maxNamed)} is not followed: the source follows ${name}`;
  if (!event.ref.startsWith(branchPrefix)) return `${cutText(event.ref, maxNamed)} is no branch`;
  const pushed = event.ref.slice(branchPrefix.length);
  if (pushed !== branch) return `branch ${cutText(pushed, maxNamed)} is not followed: the source follows ${branch}`;
  return /^0+$/.test(event.after) ? `branch ${branch} was deleted; the source keeps what it holds` : undefined;
}
