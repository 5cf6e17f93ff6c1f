import { makeDynamo } from '../../platform/aws/dynamo.ts';
import { systemClock } from '../../platform/clock.ts';
import { readEnvironment } from '../../platform/environment.ts';
import { makeKeyring } from '../../platform/keyring.ts';
import { makeHttpHandler } from '../../platform/lambda-handler.ts';
import { makeTelemetry } from '../../platform/telemetry.ts';
import { discoveryEnvironment } from '../environment.ts';
import { makeDiscovery } from './discovery.ts';

const environment = readEnvironment(discoveryEnvironment);
const telemetry = makeTelemetry('discovery');
const keyring = makeKeyring({ dynamo: makeDynamo(), table: environment.KEYRING_TABLE, now: systemClock });

/** GET /.well-known/*, and every path that no other route of {auth_url} takes. */
export const handler = makeHttpHandler(
  telemetry,
  makeDiscovery({ keyring, issuers: environment.ISSUERS, log: telemetry.log }),
  environment,
);
