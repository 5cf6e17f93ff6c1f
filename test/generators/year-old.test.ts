import { describeClients } from './clients.ts';
import { generatorVersions } from './versions.ts';

describeClients(generatorVersions['a year old']);
