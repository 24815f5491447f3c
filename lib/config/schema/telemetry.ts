import { z } from "zod";
import type { Telemetry } from "../kinds/telemetry.ts";
import { message } from "./message.ts";
import { double, duration, flag, text } from "./scalars.ts";
import { policyTarget } from "./selector.ts";

const mode = z.enum(["CLIENT_AND_SERVER", "CLIENT", "SERVER"]);
const match = message({ plain: { mode } });
const providers = message({ required: { name: text.default("") } }).array();

export const literalTag = message({ required: { value: text.default("") } });
export const namedTag = message({ required: { name: text.default("") }, plain: { defaultValue: text } });

const tracing = message({
  plain: {
    providers,
    customTags: z.record(
      text,
      message({ kept: { literal: literalTag, environment: namedTag, header: namedTag, formatter: literalTag } }),
    ),
  },
  kept: {
    match,
    randomSamplingPercentage: double,
    disableSpanReporting: flag,
    useRequestIdForTraceSampling: flag,
    enableIstioTags: flag,
    disableContextPropagation: flag,
  },
});

const override = message({
  plain: {
    tagOverrides: z.record(text, message({ plain: { operation: z.enum(["UPSERT", "REMOVE"]), value: text } })),
  },
  kept: {
    match: message({
      plain: { mode },
      kept: {
        metric: z.enum([
          "ALL_METRICS",
          "REQUEST_COUNT",
          "REQUEST_DURATION",
          "REQUEST_SIZE",
          "RESPONSE_SIZE",
          "TCP_OPENED_CONNECTIONS",
          "TCP_CLOSED_CONNECTIONS",
          "TCP_SENT_BYTES",
          "TCP_RECEIVED_BYTES",
          "GRPC_REQUEST_MESSAGES",
          "GRPC_RESPONSE_MESSAGES",
        ]),
        customMetric: text,
      },
    }),
    disabled: flag,
  },
});

export const telemetry: z.ZodType<Telemetry> = message({
  plain: {
    ...policyTarget.plain,
    tracing: tracing.array(),
    metrics: message({
      plain: { providers, overrides: override.array() },
      kept: { reportingInterval: duration },
    }).array(),
    accessLogging: message({
      plain: { providers },
      kept: { match, disabled: flag, filter: message({ plain: { expression: text } }) },
    }).array(),
  },
  kept: policyTarget.kept,
});
