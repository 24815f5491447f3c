import { type Diagnostic, keyText } from "../../base/diagnostic.ts";
import { fieldsOf, isFields, listOf, textOf } from "../../base/untyped.ts";
import { keyOf } from "../../config/config.ts";
import { at, warning } from "../../config/finding.ts";
import { keepList } from "../../incremental/keep-identity.ts";
import { mappedList } from "../../incremental/mapped-list.ts";
import type { Memo } from "../../incremental/memo.ts";
import { query } from "../../incremental/query.ts";
import { meshController } from "../../mesh/gateway-api/controllers.ts";
import type { ObjectStatus } from "../../mesh/gateway-api/object-status.ts";
import { defaultGatewayApi } from "../../mesh/gateway-api/sources.ts";
import { unservedClasses } from "../../mesh/gateway-api/unserved-classes.ts";
import { configsByKind } from "../../mesh/index/configs-by-kind.ts";
import type { World } from "../../mesh/world.ts";
import type { CompiledStatus } from "../../snapshot/compiled.ts";
import { conditionHint } from "../condition-hints.ts";

const eachStatus = mappedList(
  "compiled statuses",
  ({ key, generation, uid, controllers, status }: ObjectStatus): CompiledStatus => ({
    object: keyText(key),
    generation,
    ...(uid === undefined ? {} : { uid }),
    ...(controllers.length === 0 ? {} : { controllers }),
    status,
  }),
);

/** The statuses as a root holds them; the same objects for those that say what they said. */
export function compiledStatuses(statuses: readonly ObjectStatus[], memo: Memo): readonly CompiledStatus[] {
  return statuses.length === 0 ? [] : eachStatus(memo, "", statuses, {});
}

/** Conditions that are as they should be with this status; of all others it is True. */
const goodStatus: Readonly<Record<string, string>> = { Conflicted: "False" };

/** One warning for each condition of ours that is not as it should be, and for each Gateway that is nobody's. */
export function statusDiagnostics(
  statuses: readonly ObjectStatus[],
  world: Pick<World, "configs" | "gatewayApi">,
  memo: Memo,
): readonly Diagnostic[] {
  const of = configsByKind(world.configs, memo);
  const gateways = of("Gateway.gateway.networking.k8s.io");
  const classes = of("GatewayClass.gateway.networking.k8s.io");
  const { settings } = world.gatewayApi ?? defaultGatewayApi;
  return [...unservedClasses(memo, { gateways, classes, settings }), ...conditionDiagnostics(statuses, world, memo)];
}

function conditionDiagnostics(
  statuses: readonly ObjectStatus[],
  { configs, gatewayApi = defaultGatewayApi }: Pick<World, "configs" | "gatewayApi">,
  memo: Memo,
): readonly Diagnostic[] {
  const ours = [gatewayApi.settings.controllerName, meshController];
  const bad = keepList(
    memo,
    "statuses with a bad condition",
    statuses.filter((status) => complaintsOf(memo, { status, ours }).length > 0),
  );
  if (bad.length === 0) return [];
  const wanted = new Map(bad.map((status) => [keyText(status.key), status]));
  return configs.flatMap((config) => {
    const status = config.meta.group.startsWith("gateway.networking.") ? wanted.get(keyText(keyOf(config))) : undefined;
    if (status === undefined) return [];
    return complaintsOf(memo, { status, ours }).map(({ path, message, hint }) =>
      at(config.origin, warning(path, message, hint, "gateway-api-condition")),
    );
  });
}

interface Complaint {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly hint: string;
}

interface StatusOfOurs {
  readonly status: ObjectStatus;
  /** Names of controllers: what others say of an object is theirs to mend. */
  readonly ours: readonly string[];
}

const complaintsOf = query(
  "bad conditions of a status",
  { ours: "value" },
  ({ status, ours }: StatusOfOurs): readonly Complaint[] => {
    const { conditions, listeners, parents, ancestors } = fieldsOf(status.status);
    return [
      ...badConditions(conditions, []),
      ...listOf(listeners).flatMap((listener, index) =>
        badConditions(fieldsOf(listener).conditions, ["spec", "listeners", index]),
      ),
      ...listOf(parents)
        .filter((parent) => ours.includes(textOf(fieldsOf(parent).controllerName)))
        .flatMap((parent) => badConditions(fieldsOf(parent).conditions, [], "parentRef", parent)),
      ...listOf(ancestors)
        .filter((one) => ours.includes(textOf(fieldsOf(one).controllerName)))
        .flatMap((one) => badConditions(fieldsOf(one).conditions, [], "ancestorRef", one)),
    ];
  },
);

/** @param entry the entry of the status that tells whom it is about */
function badConditions(
  conditions: unknown,
  path: readonly (string | number)[],
  field = "",
  entry: unknown = {},
): readonly Complaint[] {
  const about = fieldsOf(fieldsOf(entry)[field]);
  const of = field === "" ? "" : `${textOf(about.kind)} ${textOf(about.name)}: `;
  return listOf(conditions)
    .filter(isFields)
    .filter(({ type, status }) => status !== (goodStatus[textOf(type)] ?? "True"))
    .map(({ type, status, reason, message }) => ({
      path,
      message: `${of}${textOf(type)} is ${textOf(status)} (${textOf(reason)}): ${textOf(message)}`,
      hint: conditionHint(textOf(reason)),
    }));
}
