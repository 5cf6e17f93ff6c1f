import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseOptions, UsageError } from '../../../../ops/local/options.ts';

const parse = (...words: string[]) => parseOptions(words, '/project/.local/outputs.json');

// npm changes to the root of the repository.
beforeEach(() => void vi.stubEnv('INIT_CWD', '/home/ana'));
afterEach(() => void vi.unstubAllEnvs());

describe('the command line', () => {
  it('may be empty', () => {
    const outputsFile = '/project/.local/outputs.json';
    expect(parse()).toEqual({ port: 4000, mappings: new Map(), stageValues: {}, outputsFile });
  });

  it('may have all options', () => {
    const files = '--data kept --hosts hosts.json --faults faults.json --outputs out.json';
    const maps = '--map a.example.com=http://127.0.0.1:1 --map B.example.com=http://127.0.0.1:2';
    const values = '--set demandsUrl=https://x.example.com --set signingAlgorithm=RS256 --retry-schedule 1s,2s';
    expect(parse(...`--port 0 ${files} ${maps} ${values}`.split(' '))).toEqual({
      port: 0,
      dataDirectory: '/home/ana/kept',
      hostsFile: '/home/ana/hosts.json',
      faultsFile: '/home/ana/faults.json',
      outputsFile: '/home/ana/out.json',
      mappings: new Map(Object.entries({ 'a.example.com': 1, 'b.example.com': 2 })),
      stageValues: { demandsUrl: 'https://x.example.com', signingAlgorithm: 'RS256', retrySchedule: '1s,2s' },
    });
  });

  it('may specify an assembly, but then no stage values', () => {
    expect(parse('--assembly', 'cdk.out')).toMatchObject({ assemblyDirectory: '/home/ana/cdk.out', stageValues: {} });
    for (const other of ['--retry-schedule=1s', '--set=registrationLimit=1'])
      expect(() => parse('--assembly', 'cdk.out', other)).toThrow(/already contains .*--assembly cannot be used with/);
  });

  it.each([
    [['--bogus'], /unknown option '--bogus'/],
    [['extra'], /too many arguments/],
    [['--port'], /argument missing/],
    [['--port', 'x'], /whole number from 0 to 65530/],
    [['--port', '65531'], /whole number from 0 to 65530/],
    [['--port', '-1'], /whole number from 0 to 65530/],
    [['--set', 'authDomain=auth.example.com'], /A local run cannot have custom domains \(authDomain\)/],
    [['--map', 'nonsense'], /HOST=http:\/\/127\.0\.0\.1:PORT/],
    [['--map', 'a.example.com=http://10.0.0.1:80'], /must map to http:\/\/127\.0\.0\.1:PORT/],
    [['--set', 'novalue'], /KEY=VALUE/],
    [['--set', 'stage=prod'], /always uses stage "local"/],
    [['--set', 'nonsense=1'], /Unknown stage value "nonsense"/],
    [['--set', 'demandsUrl=http://insecure'], /demandsUrl must be an https URL/],
    [['--retry-schedule', '1s,soon'], /retrySchedule must be/],
    [['--data', ''], /^--data must not be empty\.$/],
    [['--outputs='], /^--outputs must not be empty\.$/],
  ])('%j is rejected in one line', (words, message) => {
    expect(() => parse(...words)).toThrow(UsageError);
    expect(() => parse(...words)).toThrow(message);
    expect(() => parse(...words)).not.toThrow(/\n/);
  });
});
