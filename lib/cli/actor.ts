import { hostname, userInfo } from "node:os";

/** Where continuous integration says who started it: GitHub, GitLab, Buildkite, CircleCI. */
const actorsOfCi = ["GITHUB_ACTOR", "GITLAB_USER_LOGIN", "BUILDKITE_BUILD_CREATOR", "CIRCLE_USERNAME"];

/** Who runs this command, for the history: PORTOLAN_AUTHOR, whoever CI says, or `user@host`. */
export function actorName(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  const named = ["PORTOLAN_AUTHOR", ...actorsOfCi].map((name) => environment[name] ?? "").find((name) => name !== "");
  if (named !== undefined) return named;
  return `${userName()}@${hostname()}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user without a name.
    return "unknown";
  }
}
