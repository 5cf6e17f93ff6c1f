import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { authRoutes } from '../../lambdas/auth/routes.ts';
import { requireOutput } from '../actions/target.ts';
import { type Check, must, until, type World } from './check.ts';

/** The checks of API Gateway, and of a delivery over the Internet. */
export const gatewayChecks: readonly Check[] = [
  {
    name: 'request-id',
    claim: 'Every answer has the header `apigw-requestid`, by which `ops requests find` finds its lines',
    emulated: 'its header and its event name different ids',
    run: checkRequestId,
  },
  {
    name: 'throttles',
    claim: 'A flood of one route is refused with 429, and takes nothing from another',
    emulated: 'its gateway throttles nobody',
    run: checkThrottles,
  },
  {
    name: 'own-429',
    claim:
      'The access log tells a 429 of a function (`integrationStatus` 200) from one of the gateway: `RequestsThrottled` counts the latter',
    emulated: 'it writes no access logs',
    run: checkOwn429,
  },
  {
    name: 'delivery',
    claim: 'A delivery resolves a public name, passes the guard, speaks TLS, and arrives signed',
    run: checkDelivery,
  },
];

async function checkRequestId({ target, ops }: World): Promise<string> {
  const answer = await fetch(`${requireOutput(target, 'AuthUrl')}${authRoutes.Jwks.path}`);
  const id = answer.headers.get('apigw-requestid');
  must(id, 'an answer has no header apigw-requestid');
  const found = await until(`ops requests find -- ${id}`, 5, async () => {
    try {
      return await ops<{ access: object | null }>('requests', 'find', '--since', '1h', '--', id);
    } catch {
      return undefined; // its lines are not there yet
    }
  });
  must(JSON.stringify(found).includes(id), `ops requests find -- ${id} tells of something else`);
  return `${id}, found in the logs`;
}

/** Many more requests at once than the class `public` lets pass, and beside them some of another route. */
async function checkThrottles({ target, configuration }: World): Promise<string> {
  const { publicBurstLimit, publicRateLimit } = configuration;
  const url = requireOutput(target, 'AuthUrl');
  const count = 5 * (publicBurstLimit + publicRateLimit);
  const flood = Array.from({ length: count }, async () => (await fetch(`${url}${authRoutes.Jwks.path}`)).status);
  const beside = Array.from({ length: 5 }, async () => (await tryToken(url)).status);
  const [flooded, others] = await Promise.all([Promise.all(flood), Promise.all(beside)]);
  const refused = flooded.filter(status => status === 429).length;
  must(refused > 0, `none of ${count} requests at once was refused: the throttle of the route does not hold`);
  must(!others.includes(429), `beside the flood of one route, another answered ${others.join(', ')}`);
  return `${refused} of ${count} at once were refused, and none of another route`;
}

async function checkOwn429({ target, settings, configuration, progress }: World): Promise<string> {
  const url = requireOutput(target, 'AuthUrl');
  const since = Date.now() - 1_000;
  let own = 0;
  for (let sent = 0; own === 0 && sent < 2 * configuration.addressFailureLimit; sent += 10) {
    const answers = await Promise.all(Array.from({ length: 10 }, () => tryToken(url)));
    own += answers.filter(({ status, error }) => status === 429 && error !== undefined).length;
    progress(`${sent + 10} wrong logins`);
  }
  must(own > 0, 'no wrong client was refused with 429 by the function');
  const logs = new CloudWatchLogsClient(settings);
  const [logGroupName] = requireOutput(target, 'AccessLogGroups').split(',');
  const line = await until('a line with 429 in the access log', 5, async () => {
    const filterPattern = '{ ($.status = "429") && ($.path = "/oauth/v1/token") }';
    const { events = [] } = await logs.send(
      new FilterLogEventsCommand({ logGroupName, startTime: since, filterPattern }),
    );
    return events.at(-1)?.message;
  });
  const { integrationStatus } = JSON.parse(line) as { integrationStatus?: string };
  must(
    integrationStatus === '200',
    `$context.integrationStatus is ${integrationStatus} where the function answered 429`,
  );
  return '`$context.integrationStatus` is 200 where the function answered 429';
}

async function tryToken(url: string): Promise<{ readonly status: number; readonly error: string | undefined }> {
  const form = { grant_type: 'refresh_token', refresh_token: 'none', client_id: 'nobody', client_secret: 'nothing' };
  const answer = await fetch(`${url}${authRoutes.Token.path}`, { method: 'POST', body: new URLSearchParams(form) });
  const { error } = (await answer.json()) as { error?: string };
  return { status: answer.status, error };
}

async function checkDelivery({ ops }: World): Promise<string> {
  const { deliveryId } = await ops<{ deliveryId: string }>('smoke');
  return `${deliveryId} was delivered`;
}
