import type { Method } from "./authentication.ts";
import { textAt } from "./platform-text.ts";
import { callerOf, type Subjects } from "./subjects.ts";

/** The signer of a request to a function URL with `AWS_IAM`, as Lambda has checked it. Its ARN has to be granted something. */
export function awsIam(subjects: Subjects): Method {
  return ({ platform }) => {
    const arn = textAt(platform, ["requestContext", "authorizer", "iam", "userArn"]);
    return arn === undefined ? undefined : Promise.resolve(callerOf(subjects, { subject: arn }));
  };
}
