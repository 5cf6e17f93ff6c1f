import type { IncomingHttpHeaders } from 'node:http';
import { type AccessRequest, isAllowed, type Statement } from './statement.ts';

/** Stands before the services and enforces the policies of the template on what functions ask of them. */
export interface Gate {
  /**
   * Why a request is refused, in IAM's words; `undefined` when it may pass. Functions are known by their access key id;
   * whoever else asks (the operator's command line, the run itself) is not subject to a policy here.
   */
  refusal(headers: IncomingHttpHeaders, requests: () => readonly AccessRequest[]): string | undefined;
  /** Puts the policies in force: statements by access key id. Until then nobody is subject to any. */
  enforce(policies: ReadonlyMap<string, readonly Statement[]>): void;
}

/** The access key id that a request was signed with (AWS Signature Version 4). */
export function accessKeyIdIn({ authorization }: IncomingHttpHeaders): string {
  return /Credential=([^/]+)\//.exec(authorization ?? '')?.[1] ?? '';
}

/** Makes the gate. `onRefusal` hears of each refusal: a permission is missing in the template. */
export function makeGate(onRefusal: (message: string) => void): Gate {
  let inForce: ReadonlyMap<string, readonly Statement[]> = new Map();
  return {
    enforce: policies => {
      inForce = policies;
    },
    refusal: (headers, requests) => {
      const accessKeyId = accessKeyIdIn(headers);
      const statements = inForce.get(accessKeyId);
      const denied = statements && requests().find(request => !isAllowed(statements, request));
      if (!denied) return undefined;
      const context = Object.entries(denied.context ?? {}).map(([key, values]) => ` ${key}=${values.join(',')}`);
      const message = `${accessKeyId} is not authorized to perform: ${denied.action} on resource: ${denied.resource}${context.join('')}`;
      onRefusal(message);
      return message;
    },
  };
}
