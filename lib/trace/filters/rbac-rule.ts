import type { CidrRangeJson } from "../../../gen/envoy/config/core/v3/address_pb.ts";
import type { PermissionJson, PolicyJson, PrincipalJson } from "../../../gen/envoy/config/rbac/v3/rbac_pb.ts";
import type { HeaderMatcherJson } from "../../../gen/envoy/config/route/v3/route_components_pb.ts";
import type { PathMatcherJson } from "../../../gen/envoy/type/matcher/v3/path_pb.ts";
import type { StringMatcherJson } from "../../../gen/envoy/type/matcher/v3/string_pb.ts";
import { holds, networkText } from "../addresses.ts";
import { headerMismatch } from "../header-match.ts";
import { comparedPath } from "../path.ts";
import { about, quoted, regexMismatch, stringMismatch } from "../string-match.ts";
import { isOfMessage } from "../typed-config.ts";
import { metadataTruth } from "./metadata.ts";
import type { FilterContext, Stream } from "./stream.ts";
import { depends, every, no, not, some, type Truth, truthOf, yes } from "./truth.ts";
import { templateExpression } from "./uri-template.ts";
import { maxDepth, tooMuch } from "./work.ts";

/**
 * Whether a policy of RBAC matches: one of its permissions, one of its principals, and its condition, which is not followed here.
 *
 * @see envoy 1.40.0 source/extensions/filters/common/rbac/matchers.cc
 */
export function policyTruth(policy: PolicyJson, stream: Stream, context: FilterContext): Truth {
  const { permissions = [], principals = [], condition, checkedCondition } = policy;
  const judge: Judge = { stream, context };
  return every(
    (function* () {
      yield some(lazily(permissions, (one) => permissionTruth(one, judge, 0)));
      yield some(lazily(principals, (one) => principalTruth(one, judge, 0)));
      if ((condition ?? checkedCondition) !== undefined) yield depends("a CEL condition");
    })(),
  );
}

interface Judge {
  readonly stream: Stream;
  readonly context: FilterContext;
}

function* lazily<T>(list: readonly T[], judge: (one: T) => Truth): Generator<Truth> {
  for (const one of list) yield judge(one);
}

function permissionTruth(permission: PermissionJson, judge: Judge, depth: number): Truth {
  const { context, stream } = judge;
  if (depth > maxDepth || !context.work.spend()) return depends(tooMuch);
  const { andRules, orRules, notRule, any, header, urlPath, destinationIp, destinationPort } = permission;
  const { destinationPortRange, metadata, requestedServerName, uriTemplate } = permission;
  const { address, port } = context.request.destination;
  const inner = (one: PermissionJson) => permissionTruth(one, judge, depth + 1);
  if (any !== undefined) return yes();
  if (andRules !== undefined) return every(lazily(andRules.rules ?? [], inner));
  if (orRules !== undefined) return some(lazily(orRules.rules ?? [], inner));
  if (notRule !== undefined) return not(inner(notRule));
  if (header !== undefined) return headerTruth(header, judge);
  if (urlPath !== undefined) return pathTruth(urlPath, judge);
  if (destinationIp !== undefined) return addressTruth("the destination's address", destinationIp, address);
  if (destinationPort !== undefined)
    return destinationPort === port ? yes(`port ${port}`) : no(`port is not ${destinationPort}`);
  if (destinationPortRange !== undefined) {
    const { start = 0, end = 0 } = destinationPortRange;
    return port >= start && port < end ? yes(`port ${port}`) : no(`port is not from ${start} to below ${end}`);
  }
  if (metadata !== undefined) return metadataTruth(metadata, stream.metadata, context);
  if (requestedServerName !== undefined)
    return textTruth("the server name", requestedServerName, context.serverName, judge);
  if (uriTemplate !== undefined) return templateTruth(uriTemplate.typedConfig, judge);
  return depends(`a matcher of RBAC (${Object.keys(permission).join(", ").slice(0, 100)})`);
}

function principalTruth(principal: PrincipalJson, judge: Judge, depth: number): Truth {
  const { context, stream } = judge;
  if (depth > maxDepth || !context.work.spend()) return depends(tooMuch);
  const { andIds, orIds, notId, any, authenticated, sourceIp, directRemoteIp, remoteIp } = principal;
  const { header, urlPath, metadata } = principal;
  const inner = (one: PrincipalJson) => principalTruth(one, judge, depth + 1);
  const source = context.request.source?.address;
  if (any !== undefined) return yes();
  if (andIds !== undefined) return every(lazily(andIds.ids ?? [], inner));
  if (orIds !== undefined) return some(lazily(orIds.ids ?? [], inner));
  if (notId !== undefined) return not(inner(notId));
  if (authenticated !== undefined) return peerTruth(authenticated.principalName, judge);
  if (sourceIp !== undefined) return addressTruth("the client's address", sourceIp, source);
  if (directRemoteIp !== undefined) return addressTruth("the client's address", directRemoteIp, source);
  if (remoteIp !== undefined) return addressTruth("the client's address", remoteIp, stream.remoteAddress);
  if (header !== undefined) return headerTruth(header, judge);
  if (urlPath !== undefined) return pathTruth(urlPath, judge);
  if (metadata !== undefined) return metadataTruth(metadata, stream.metadata, context);
  return depends(`a matcher of RBAC (${Object.keys(principal).join(", ").slice(0, 100)})`);
}

function textTruth(subject: string, matcher: StringMatcherJson, text: string, { context }: Judge): Truth {
  return truthOf(about(subject, stringMismatch(matcher, text, context.readRegex)), `${subject} ${quoted(text)}`);
}

function headerTruth(matcher: HeaderMatcherJson, { context, stream }: Judge): Truth {
  const { name = "" } = matcher;
  const value = stream.headers.get(name.toLowerCase());
  const subject = value === undefined ? `no header ${name}` : `header ${name} ${quoted(value)}`;
  return truthOf(headerMismatch(matcher, stream.headers, context.readRegex), subject);
}

function pathTruth({ path = {} }: PathMatcherJson, judge: Judge): Truth {
  const written = judge.stream.headers.get(":path");
  if (written === undefined) return no("there is no path");
  return textTruth("path", path, comparedPath(written, judge.context.ignoresPathParameters), judge);
}

function templateTruth(config: { readonly "@type"?: string } | undefined, { context, stream }: Judge): Truth {
  if (!isOfMessage(config, "envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig"))
    return depends("a matcher of paths");
  const { pathTemplate = "" }: { readonly pathTemplate?: string } = Object(config);
  const path = comparedPath(stream.headers.get(":path") ?? "", context.ignoresPathParameters);
  const found = regexMismatch(templateExpression(pathTemplate), path, context.readRegex);
  const words = found && { ...found, why: `path does not match the template ${quoted(pathTemplate)}` };
  return truthOf(words, `path ${quoted(path)}`);
}

/** A range of IPv6 holds no IPv4 address. */
function addressTruth(subject: string, range: CidrRangeJson, address: string | undefined): Truth {
  const network = networkText(range);
  if (address === undefined) return depends(subject);
  return holds(network, address) ? yes(`${subject} ${address}`) : no(`${subject} ${address} is not in ${network}`);
}

function peerTruth(name: StringMatcherJson | undefined, judge: Judge): Truth {
  const { peer } = judge.context;
  if (peer.kind === "plain") return no("the client has proved no identity: the connection is no TLS that ends here");
  if (name === undefined) return yes("TLS");
  if (peer.kind === "unnamed") return depends("the client's identity");
  // Without a certificate Envoy matches an empty text.
  const names = peer.names.length === 0 ? [""] : peer.names;
  return some(lazily(names, (one) => textTruth("the client's identity", name, one, judge)));
}
