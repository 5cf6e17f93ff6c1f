import { testWorlds } from './every-promise.ts';

testWorlds('delivery', [3, 15]);
