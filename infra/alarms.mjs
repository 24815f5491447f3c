// What somebody should be told of.

import { Duration } from "aws-cdk-lib";
import { Alarm, ComparisonOperator, Metric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { Topic } from "aws-cdk-lib/aws-sns";

/**
 * @param {import("constructs").Construct} scope
 * @param {{ front: import("aws-cdk-lib/aws-lambda").Function, hooks: import("aws-cdk-lib/aws-lambda").Function,
 *   compile: import("aws-cdk-lib/aws-lambda").Function, deadLetters: import("aws-cdk-lib/aws-sqs").Queue,
 *   slicesDead?: import("aws-cdk-lib/aws-sqs").Queue | undefined,
 *   garbage?: import("aws-cdk-lib/aws-lambda").Function | undefined }} parts
 * @returns {Topic} where all of them are told
 */
export function addAlarms(scope, { front, hooks, compile, deadLetters, slicesDead, garbage }) {
  const topic = new Topic(scope, "Alarms", { enforceSSL: true });
  const period = Duration.minutes(5);

  /**
   * @param {string} id
   * @param {string} alarmDescription
   * @param {import("aws-cdk-lib/aws-cloudwatch").IMetric} metric
   * @param {Partial<import("aws-cdk-lib/aws-cloudwatch").AlarmProps>} [more] above 0 in one period, unless told otherwise
   */
  const alarm = (id, alarmDescription, metric, more = {}) => {
    const made = new Alarm(scope, id, {
      alarmDescription,
      metric,
      threshold: 0,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...more,
    });
    made.addAlarmAction(new SnsAction(topic));
  };
  /**
   * @param {import("aws-cdk-lib/aws-lambda").Function} urlOf
   * @param {string} metricName
   */
  const url = (urlOf, metricName) =>
    new Metric({
      namespace: "AWS/Lambda",
      metricName,
      dimensionsMap: { FunctionName: urlOf.functionName },
      statistic: "Sum",
      period,
    });

  alarm(
    "CompileFails",
    "A compile has failed; what was published goes on being served",
    compile.metricErrors({ period }),
  );
  alarm(
    "CompileStands",
    "Nothing was compiled for half an hour, though a schedule asks every ten minutes",
    compile.metricInvocations({ period: Duration.minutes(30) }),
    {
      threshold: 1,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.BREACHING,
    },
  );
  alarm(
    "CompileIsSlow",
    "A compile has taken four of its five minutes",
    compile.metricDuration({ period, statistic: "Maximum" }),
    { threshold: 240_000 },
  );
  alarm(
    "MessagesAreLost",
    "Requests to compile have failed again and again",
    deadLetters.metricApproximateNumberOfMessagesVisible({ period }),
  );
  if (slicesDead !== undefined)
    alarm(
      "SlicesAreLost",
      "Slices of a compile have failed again and again, and the compile with them; what was published goes on being served",
      slicesDead.metricApproximateNumberOfMessagesVisible({ period }),
    );
  if (garbage !== undefined)
    alarm(
      "GarbageStays",
      "Garbage could not be collected; everything is served as ever, and the bucket grows",
      garbage.metricErrors({ period }),
    );
  alarm(
    "HooksAreFlooded",
    "Requests to the compile function's address were turned away; the queue and the schedule go on",
    hooks.metricThrottles({ period }),
  );
  alarm(
    "HooksAreRefused",
    "Many requests to the compile function's address were refused: a wrong secret, or somebody who tries",
    url(hooks, "Url4xxCount"),
    { threshold: 100 },
  );
  alarm("FrontFails", "Polls have failed; Envoys keep what they have", url(front, "Url5xxCount"), { threshold: 10 });
  alarm("FrontIsFlooded", "Polls were turned away for want of room", front.metricThrottles({ period }));
  alarm(
    "FrontRefuses",
    "Many polls were refused: nodes without a token that holds, or somebody who tries",
    url(front, "Url4xxCount"),
    { threshold: 1000 },
  );
  return topic;
}
