import { alarmChecks } from './alarm-checks.ts';
import type { Check } from './check.ts';
import { dataChecks } from './data-checks.ts';
import { gatewayChecks } from './gateway-checks.ts';
import { permissionChecks } from './permission-checks.ts';
import { publisherChecks } from './publisher-checks.ts';
import { releaseChecks } from './release-checks.ts';
import { runtimeChecks } from './runtime-checks.ts';

/** All checks, those that deploy last. */
export const checks: readonly Check[] = [
  ...runtimeChecks,
  ...dataChecks,
  ...gatewayChecks,
  ...permissionChecks,
  ...alarmChecks,
  ...publisherChecks,
  ...releaseChecks,
];
