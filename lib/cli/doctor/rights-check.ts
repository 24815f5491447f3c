import { fieldsOf } from "../../base/untyped.ts";
import { apiError, jsonOf, send } from "../../registry/kubernetes/api/client.ts";
import { type Grant, grantsOf } from "../install/accounts.ts";
import type { KubeConnection } from "../kube/kube-connection.ts";
import type { Examined } from "./examined.ts";
import { type Finding, failed, passed, skipped } from "./finding.ts";

const check = "rights";
const reviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

interface Right {
  readonly account: string;
  readonly namespace?: string;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly name?: string;
}

/** Asks the API server about each right that the accounts of the installation need. */
export async function rightsFindings({ connection, of }: Examined): Promise<readonly Finding[]> {
  const rights = grantsOf(of).flatMap(rightsIn);
  const lacking: string[] = [];
  for (const right of rights) {
    const isAllowed = await isGranted(connection, of.namespace, right);
    if (isAllowed === undefined)
      return [skipped(check, "you may not create SubjectAccessReviews; an administrator of the cluster may")];
    if (!isAllowed) lacking.push(textOf(right));
  }
  if (lacking.length === 0) return [passed(check, `the accounts have the ${rights.length} rights that they need`)];
  const shown = lacking.slice(0, 5).join("; ");
  const rest = lacking.length > 5 ? `; and ${lacking.length - 5} more` : "";
  return [failed(check, `missing: ${shown}${rest}`, "run `portolan install --apply` with its options again")];
}

const rightsIn = ({ account, namespace, rules }: Grant): readonly Right[] =>
  rules.flatMap(({ apiGroups, resources, resourceNames, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((path) =>
        verbs.flatMap((verb) =>
          (resourceNames ?? [undefined]).map((name) => {
            const [resource = "", subresource] = path.split("/");
            return {
              account,
              verb,
              group,
              resource,
              ...(namespace === undefined ? {} : { namespace }),
              ...(subresource === undefined ? {} : { subresource }),
              ...(name === undefined ? {} : { name }),
            };
          }),
        ),
      ),
    ),
  );

/** @returns undefined where this user may not ask */
async function isGranted(
  { client }: KubeConnection,
  accountNamespace: string,
  { account, ...resourceAttributes }: Right,
): Promise<boolean | undefined> {
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${accountNamespace}`, "system:authenticated"];
  const spec = { user: `system:serviceaccount:${accountNamespace}:${account}`, groups, resourceAttributes };
  const answer = await send(client, reviews, { method: "POST", body: { spec } });
  if ("response" in answer) return fieldsOf(fieldsOf(await jsonOf(reviews, answer.response)).status).allowed === true;
  if (answer.failure.status === 403) return undefined;
  throw apiError(reviews, answer.failure);
}

const textOf = ({ account, verb, group, resource, subresource, name, namespace }: Right): string =>
  [
    `${account} may not ${verb} ${resource}${subresource === undefined ? "" : `/${subresource}`}`,
    group === "" ? "" : ` of ${group}`,
    name === undefined ? "" : ` named ${name}`,
    namespace === undefined ? "" : ` in ${namespace}`,
  ].join("");
