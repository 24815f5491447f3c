// Reads the CDK's template as a deployment.

import { add, fail, linesOf, namedIn, symbolOf } from "./deployment.mjs";

/** By CloudFormation's type the kind, what its CDK name ends with, and the attribute that `Ref` gives. @type {Record<string, [string, RegExp, string]>} */
const kinds = {
  "AWS::S3::Bucket": ["Bucket", /$/, "id"],
  "AWS::Lambda::Function": ["Function", /$/, "name"],
  "AWS::Lambda::Url": ["Url", /FunctionUrl$/, "arn"],
  "AWS::Logs::LogGroup": ["LogGroup", /Logs$/, "name"],
  "AWS::IAM::Role": ["Role", /ServiceRole$/, "name"],
  "AWS::SQS::Queue": ["Queue", /$/, "url"],
  "AWS::Events::Rule": ["Rule", /$/, "name"],
  "AWS::SNS::Topic": ["Topic", /$/, "arn"],
  "AWS::CloudWatch::Alarm": ["Alarm", /$/, "name"],
  "AWS::SecretsManager::Secret": ["Secret", /Secret$/, "arn"],
  "AWS::KMS::Key": ["Key", /Key$/, "id"],
};

/** @type {Record<string, string>} */
const attributes = { Arn: "arn", QueueName: "name", FunctionUrl: "url" };
/** @type {Record<string, string>} */
const pseudo = { "AWS::Partition": "<partition>", "AWS::AccountId": "<account>" };

/** Whether a resource outlives the stack, by its policy. @type {Map<string | undefined, true | undefined>} */
const endings = new Map([
  ["Retain", true],
  ["Delete", undefined],
  [undefined, undefined],
]);

/**
 * @param {any} template
 * @param {(key: string) => string} bundleOf the name of the bundle that lies under a key of the CDK's bucket
 * @returns {import("./deployment.mjs").Deployment}
 */
export function ofTemplate({ Resources: resources, Outputs: outputs }, bundleOf) {
  /** @param {string} id @returns {[string, string, string] | undefined} kind, name, and the attribute that `Ref` gives */
  const placeOf = (id) => {
    const [kind, end, ref] = kinds[resources[id].Type] ?? [];
    if (kind === undefined || end === undefined || ref === undefined) return undefined;
    return [kind, id.replace(/[0-9A-F]{8}$/, "").replace(end, ""), ref];
  };
  /** @param {string} id @param {string} [attribute] */
  const symbol = (id, attribute) => {
    const [kind, name, ref] = placeOf(id) ?? fail(`${id} is referred to, which is not compared`);
    return symbolOf(kind, name, attribute === undefined ? ref : (attributes[attribute] ?? fail(`no ${attribute}`)));
  };
  /** @param {any} value @returns {any} */
  const resolve = (value) => {
    if (typeof value === "string")
      return value.replace(/\{\{resolve:secretsmanager:(.*?):SecretString:::\}\}/g, "<secret $1>");
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== "object" || value === null) return value;
    const { Ref: ref, "Fn::GetAtt": attribute, "Fn::Join": join } = value;
    if (ref !== undefined) return pseudo[ref] ?? symbol(ref);
    if (attribute !== undefined) return symbol(attribute[0], attribute[1]);
    if (join !== undefined) return resolve(join[1].map(resolve).join(join[0]));
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, resolve(part)]));
  };

  /** @type {import("./deployment.mjs").Deployment} */
  const deployment = {};
  for (const [id, { Type: type, Properties: raw = {}, DeletionPolicy: ending }] of Object.entries(resources)) {
    if (type === "AWS::CDK::Metadata") continue;
    const { Code: code, ...coded } = raw;
    const properties = resolve(coded);
    const place = placeOf(id);
    const policy = properties.PolicyDocument;
    if (type === "AWS::IAM::Policy")
      for (const role of properties.Roles) add(deployment, `Role ${namedIn(role)}`, { Policy: linesOf(policy) });
    else if (type === "AWS::S3::BucketPolicy")
      add(deployment, `Bucket ${namedIn(properties.Bucket)}`, { Policy: linesOf(policy) });
    else if (type === "AWS::SQS::QueuePolicy")
      for (const queue of properties.Queues) add(deployment, `Queue ${namedIn(queue)}`, { Policy: linesOf(policy) });
    else if (type === "AWS::SNS::TopicPolicy")
      for (const topic of properties.Topics) add(deployment, `Topic ${namedIn(topic)}`, { Policy: linesOf(policy) });
    else if (type === "AWS::Lambda::Permission") {
      const { FunctionName: name, ...permission } = properties;
      add(deployment, `Function ${namedIn(name)}`, { Permissions: [permission] });
    } else if (type === "AWS::Lambda::EventSourceMapping") {
      const { EventSourceArn: queue, ...mapping } = properties;
      add(deployment, `EventSource ${namedIn(queue)}`, { ...mapping, FunctionName: namedIn(mapping.FunctionName) });
    } else if (place !== undefined) {
      const [kind, name] = place;
      if (!endings.has(ending)) fail(`${id} is deleted by the policy ${ending}, which is not compared`);
      const bundle = code === undefined ? undefined : bundleOf(code.S3Key);
      add(deployment, `${kind} ${name}`, {
        ...(change[kind]?.(properties) ?? properties),
        Code: bundle,
        Retained: endings.get(ending),
      });
    } else fail(`${id} is of the type ${type}, which is not compared`);
  }
  const shown = Object.entries(outputs).map(([name, { Value: value }]) => [name, resolve(value)]);
  return { ...deployment, Outputs: Object.fromEntries(shown) };
}

/** Properties whose shape is another in Terraform, by kind. @type {Record<string, (properties: any) => any>} */
const change = {
  Function: ({ Environment, ...rest }) => ({ ...rest, Environment: Environment.Variables }),
  Role: ({ AssumeRolePolicyDocument: trust, ...rest }) => ({ ...rest, Trust: linesOf(trust) }),
  Key: ({ KeyPolicy: policy, ...rest }) => ({ ...rest, Policy: linesOf(policy) }),
  Url: ({ InvokeMode: mode = "BUFFERED", TargetFunctionArn: target, ...rest }) => ({
    ...rest,
    InvokeMode: mode,
    Function: namedIn(target),
  }),
  Rule: ({ Targets, ...rest }) => ({ ...rest, Targets: Targets.map((/** @type {any} */ { Arn }) => Arn) }),
  Alarm: ({ Dimensions, ...rest }) => ({
    ...rest,
    Dimensions: Object.fromEntries(Dimensions.map((/** @type {any} */ { Name, Value }) => [Name, Value])),
  }),
};
