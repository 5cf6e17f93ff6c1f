import { describeClients } from './clients.ts';
import { generatorVersions } from './downloads.ts';

describeClients(generatorVersions.newest);
