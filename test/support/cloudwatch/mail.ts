/** The change of an alarm's state, as CloudWatch tells EventBridge of it. */
export interface AlarmChange {
  readonly description: string;
  readonly from: 'OK' | 'ALARM' | 'INSUFFICIENT_DATA';
  readonly to: 'OK' | 'ALARM' | 'INSUFFICIENT_DATA';
}

/** The properties of a rule on events in a template. */
export interface EventRule {
  readonly EventPattern: object;
  readonly Targets: readonly {
    readonly Arn: { readonly Ref: string };
    readonly DeadLetterConfig?: { readonly Arn: object };
    readonly InputTransformer: { readonly InputPathsMap: Record<string, string>; readonly InputTemplate: string };
  }[];
}

/** Returns the mails that a change of state sends, by the rules of a template: the topic of each, and its text. */
export function mailsOf(rules: readonly EventRule[], change: AlarmChange): readonly Mail[] {
  return mailsOfEvent(rules, eventOf(change));
}

interface Mail {
  readonly topic: string;
  readonly text: string;
}

/** Returns the mails that an event sends. */
export function mailsOfEvent(rules: readonly EventRule[], event: object): readonly Mail[] {
  return rules
    .filter(({ EventPattern }) => matches(EventPattern, event))
    .flatMap(({ Targets }) => Targets)
    .map(({ Arn, InputTransformer: { InputPathsMap, InputTemplate } }) => ({
      topic: Arn.Ref,
      text: InputTemplate.replaceAll(/<([\w-]+)>/g, (_, name: string) =>
        String(read(event, InputPathsMap[name] ?? '')),
      ),
    }));
}

function eventOf({ description, from, to }: AlarmChange) {
  return {
    source: 'aws.cloudwatch',
    'detail-type': 'CloudWatch Alarm State Change',
    account: '111122223333',
    region: 'sa-east-1',
    detail: {
      alarmName: 'Emissor-prod-Auth-AlarmsLoginsFail673988D4-8KVJTbGvMx2Q',
      configuration: { description },
      previousState: { value: from },
      state: {
        value: to,
        timestamp: '2026-11-20T12:11:00.000+0000',
        reason:
          'Threshold Crossed: 3 out of the last 15 datapoints [1.0 (20/11/26 12:10:00), 1.0 (20/11/26 12:05:00), 1.0 (20/11/26 12:00:00)] were greater than the threshold (0.05) (minimum 3 datapoints for OK -> ALARM transition).',
      },
    },
  };
}

/** The part of EventBridge's patterns that the templates use; any other is refused. */
function matches(pattern: unknown, event: unknown): boolean {
  if (Array.isArray(pattern)) return pattern.some(rule => [event].flat().some(value => matchesOne(rule, value)));
  if (typeof pattern !== 'object' || pattern === null) throw new Error(`This is no pattern: ${pattern}`);
  return Object.entries(pattern).every(([name, inner]) => matches(inner, (event as Record<string, unknown>)?.[name]));
}

function matchesOne(rule: unknown, value: unknown): boolean {
  if (typeof rule !== 'object') return rule === value;
  const { prefix, ...others } = rule as { prefix?: string };
  if (prefix === undefined || Object.keys(others).length > 0) throw new Error(`Unknown rule: ${JSON.stringify(rule)}`);
  return String(value).startsWith(prefix);
}

function read(event: object, path: string): unknown {
  const names = path
    .replace(/^\$\./, '')
    .split(/[.[\]]+/)
    .filter(name => name !== '');
  return names.reduce<unknown>((value, name) => (value as Record<string, unknown>)?.[name], event);
}
