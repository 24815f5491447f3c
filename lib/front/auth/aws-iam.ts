import type { Method } from "./authentication.ts";
import { callerOf, type Subjects } from "./subjects.ts";

/** The signer of a request to a function URL with `AWS_IAM`, as Lambda has checked it. Its ARN has to be granted something. */
export function awsIam(subjects: Subjects): Method {
  return ({ platform }) => {
    const arn = textAt(platform, ["requestContext", "authorizer", "iam", "userArn"]);
    return arn === undefined ? undefined : Promise.resolve(callerOf(subjects, { subject: arn }));
  };
}

function textAt(value: unknown, path: readonly string[]): string | undefined {
  let found = value;
  for (const name of path) {
    if (typeof found !== "object" || found === null) return undefined;
    found = Object.entries(found).find(([key]) => key === name)?.[1];
  }
  return typeof found === "string" && found !== "" ? found : undefined;
}
