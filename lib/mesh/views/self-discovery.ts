import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { rolloutHashLabel, templateHashLabel } from "../../registry/labels.ts";
import { isFlagSet, textOf } from "../proxy/node-metadata.ts";
import type { ProxyAnswers } from "./proxies/proxy-answers.ts";
import type { SelfDiscovery } from "./views.ts";

const selfDiscovery = query("self discovery", (self: SelfDiscovery): SelfDiscovery => self);

/** What tells the proxies that are like this one; undefined where it does not ask for them. */
export function selfDiscoveryOf(node: ProxyAnswers, memo: Memo): SelfDiscovery | undefined {
  if (!isFlagSet(node.metadata("ENABLE_SELF_DISCOVERY"))) return undefined;
  return selfDiscovery(memo, {
    target: node.targets[0],
    workload: textOf(node.metadata("WORKLOAD_NAME")),
    templateHash: node.label(templateHashLabel) ?? "",
    rolloutHash: node.label(rolloutHashLabel) ?? "",
    region: node.locality.split("/")[0] ?? "",
  });
}

/** What of it the key of a view says. */
export function selfNames(self: SelfDiscovery | undefined): unknown {
  if (self === undefined) return undefined;
  const { target, ...others } = self;
  const { attributes, hostname } = target?.service ?? {};
  return { ...others, namespace: attributes?.namespace, hostname, port: target?.servicePort.port };
}
