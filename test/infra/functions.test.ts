import { describe, expect, it } from 'vitest';
import { resourcesOf, stageTemplates } from './templates.ts';

const templates = Object.values(stageTemplates('prod', { tokenConcurrency: 40 }));
const functions = templates
  .flatMap(template => resourcesOf(template, 'AWS::Lambda::Function'))
  .filter(([id]) => !id.startsWith('AWSCDK')); // the deployment trigger's own
const logGroups = templates.flatMap(template => resourcesOf(template, 'AWS::Logs::LogGroup'));

describe('every function', () => {
  it('runs on Node.js 24, arm64', () => {
    expect(functions).toHaveLength(10);
    for (const [id, { Properties }] of functions) {
      expect(Properties, id).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
      });
    }
  });

  it('writes JSON to a log group of its own, whose retention is the stage’s', () => {
    const groups = functions.map(([, { Properties }]) => Properties.LoggingConfig.LogGroup.Ref);
    expect(new Set(groups).size).toBe(functions.length);
    for (const [, { Properties }] of functions) expect(Properties.LoggingConfig.LogFormat).toBe('JSON');
    for (const [id, { Properties }] of logGroups) expect(Properties.RetentionInDays, id).toBe(365);
  });

  it('sits in no VPC, which would open private addresses to deliveries', () => {
    for (const [id, { Properties }] of functions) expect(Properties, id).not.toHaveProperty('VpcConfig');
  });

  it('shares the account’s concurrency, but for the one that hashes passwords', () => {
    const reserved = functions.filter(([, { Properties }]) => Properties.ReservedConcurrentExecutions !== undefined);
    expect(reserved.map(([id, { Properties }]) => [id.slice(0, 5), Properties.ReservedConcurrentExecutions])).toEqual([
      ['Token', 40],
    ]);
  });
});
