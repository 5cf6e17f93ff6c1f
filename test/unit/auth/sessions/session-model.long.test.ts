import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { startAuthService } from '../../../support/auth-service.ts';
import { judgedBy } from '../../../support/password-hashing.ts';

const day = 86_400_000;

/** The expected state of a session, kept without looking at the store. */
interface Model {
  /** Refresh tokens so far, the oldest first; the last one is the one to use. `undefined` if its response got lost. */
  readonly tokens: (string | undefined)[];
  rotatedAt: number;
  readonly endsAt: number;
  isRevoked: boolean;
  isDisabled: boolean;
  isPasswordChanged: boolean;
}

type Action =
  | {
      readonly do: 'refresh';
      /** The age of the token, in generations. */
      readonly back: number;
      /** The number of times that it is presented at the same moment. */
      readonly times: number;
      /** The response does not reach the client, which does not learn the successor. */
      readonly isResponseLost: boolean;
      /** DynamoDB's answer does not reach us, and the SDK writes again. */
      readonly isWriteRepeated: boolean;
    }
  | { readonly do: 'wait'; readonly milliseconds: number }
  | {
      readonly do:
        | 'revoke'
        | 'disable'
        | 'enable'
        | 'changePassword'
        | 'rotateMacKey'
        | 'rotateKeys'
        | 'presentElsewhere';
    };

const actions = fc.array(
  fc.oneof(
    {
      weight: 10,
      arbitrary: fc.record({
        do: fc.constant('refresh' as const),
        back: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 3 })),
        times: fc.integer({ min: 1, max: 4 }),
        isResponseLost: fc.boolean(),
        isWriteRepeated: fc.boolean(),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('wait' as const),
        milliseconds: fc.constantFrom(1_000, 29_000, 30_000, 60_000, day, 13 * day, 14 * day),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constantFrom(
          ...([
            'revoke',
            'disable',
            'enable',
            'changePassword',
            'rotateMacKey',
            'rotateKeys',
            'presentElsewhere',
          ] as const),
        ),
      }),
    },
  ) satisfies fc.Arbitrary<Action>,
  { maxLength: 25 },
);

const service = await startAuthService({ keyDerivation: judgedBy(() => true) });
afterAll(() => service.stop());

describe('a session under any sequence of refreshes, lost responses, theft and administration', () => {
  it.each([0, 30])(
    'behaves like its model, with a grace period of %i s',
    async graceSeconds => {
      const client = await service.makeClient({ graceSeconds });
      const other = await service.makeClient();
      const { user, username } = await service.makeUser();

      const begin = async (): Promise<Model> => {
        await service.users.setUserStatus(user.userId, 'enabled');
        const answer = await service.logIn(client, { username, password: 'x' });
        const now = service.clock.now();
        return {
          tokens: [answer.json.refresh_token],
          rotatedAt: now,
          endsAt: now + 90 * day,
          isRevoked: false,
          isDisabled: false,
          isPasswordChanged: false,
        };
      };
      const present = (token: string, from = client) => service.refresh(from, token);

      /** Returns the expected effect of presenting the token that is this many generations older than the newest. */
      const expectedEffect = (model: Model, back: number): 'rotates' | 'repeats' | 'revokes' | 'refused' => {
        const now = service.clock.now();
        if (model.isRevoked || now >= model.rotatedAt + 14 * day || now >= model.endsAt) return 'refused';
        const isInGrace = back === 1 && now < model.rotatedAt + graceSeconds * 1_000;
        if (back > 0 && !isInGrace) return 'revokes';
        if (model.isDisabled || model.isPasswordChanged) return 'refused';
        return back === 0 ? 'rotates' : 'repeats';
      };

      const refresh = async (
        model: Model,
        { back, times, isResponseLost, isWriteRepeated }: Extract<Action, { do: 'refresh' }>,
      ): Promise<void> => {
        const asked = Math.max(0, model.tokens.length - 1 - back);
        const generation = model.tokens[asked] === undefined ? asked - 1 : asked; // an unknown token cannot be presented
        const token = model.tokens[generation] ?? '';
        const expected = expectedEffect(model, model.tokens.length - 1 - generation);
        const isReuseByRace = expected === 'rotates' && times > 1 && graceSeconds === 0; // no grace: the losers are reuse
        if (expected === 'rotates' && times === 1 && isWriteRepeated) service.database.repeatNext('UpdateItemCommand');
        const answers = await Promise.all(Array.from({ length: times }, () => present(token)));
        const successors = new Set(
          answers.filter(({ status }) => status === 200).map(({ json }) => json.refresh_token),
        );
        const [successor] = successors;

        expect(successors.size).toBeLessThanOrEqual(1); // never two valid successors
        if (expected === 'rotates') {
          expect(successors.size).toBe(1);
          expect(model.tokens).not.toContain(successor);
          model.tokens.push(isResponseLost ? undefined : successor);
          model.rotatedAt = service.clock.now();
          model.isRevoked = isReuseByRace;
        } else if (expected === 'repeats') {
          const known = model.tokens.pop();
          expect([...successors]).toEqual([known ?? expect.any(String)]);
          model.tokens.push(isResponseLost ? known : successor);
        } else {
          expect(successors.size).toBe(0);
          model.isRevoked ||= expected === 'revokes';
        }
        if (!isReuseByRace) expect(new Set(answers.map(({ status }) => status)).size).toBe(1);
      };

      const perform = async (model: Model, action: Action): Promise<void> => {
        switch (action.do) {
          case 'refresh':
            return refresh(model, action);
          case 'wait':
            return service.clock.advance(action.milliseconds);
          case 'revoke': {
            const credentials = { client_id: client.id, client_secret: client.secret };
            await service.post('revoke', { ...credentials, token: model.tokens[0] ?? '' });
            model.isRevoked = true;
            return undefined;
          }
          case 'disable':
          case 'enable':
            model.isDisabled ||= action.do === 'disable'; // enabling again revives no session
            await service.users.setUserStatus(user.userId, `${action.do}d`);
            return undefined;
          case 'changePassword':
            model.isPasswordChanged = true;
            await service.users.setUserPassword(user.userId, 'x');
            return undefined;
          case 'rotateMacKey':
            await service.rotation.rotateNow('mac');
            return undefined;
          case 'rotateKeys':
            await service.rotation.rotateKeys();
            return undefined;
          case 'presentElsewhere':
            expect((await present(model.tokens[0] ?? '', other)).status).toBe(400);
            return undefined;
        }
      };

      await fc.assert(
        fc.asyncProperty(actions, async steps => {
          const model = await begin();
          for (const step of steps) await perform(model, step);
        }),
        { numRuns: 40 },
      );
    },
    120_000,
  );
});
