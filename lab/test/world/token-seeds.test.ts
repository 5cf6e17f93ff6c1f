import { testWorlds } from './every-promise.ts';

testWorlds('tokens', [4, 5, 7, 8, 13, 14]);
